// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// client ADDRESS:PORT: for each line of its input, bytes and checksum of the line and of all lines until then, as
// digest.proto's service says.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"google.golang.org/grpc"

	"examples/digest"
)

// tell prints what the service says of a line that the call `all` is told of, too.
func tell(client digest.DigestClient, all digest.Digest_FollowClient, line []byte) error {
	piece := &digest.Piece{Data: line}
	one, err := client.Sum(context.Background(), piece)
	if err != nil {
		return err
	}
	if err := all.Send(piece); err != nil {
		return err
	}
	sum, err := all.Recv()
	if err != nil {
		return err
	}
	fmt.Printf("%d %08x %d %08x\n", one.Bytes, one.Crc32, sum.Bytes, sum.Crc32)
	return nil
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: client ADDRESS:PORT")
	}
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	client := digest.NewDigestClient(connection)
	all, err := client.Follow(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for input := bufio.NewReader(os.Stdin); ; {
		line, err := input.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		if err == nil {
			err = tell(client, all, line)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
