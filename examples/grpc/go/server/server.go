// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// server [ADDRESS:PORT]: digest.proto's service in Go.
package main

import (
	"context"
	"hash/crc32"
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"

	"examples/digest"
)

type server struct {
	digest.UnimplementedDigestServer
}

func (server) Sum(_ context.Context, piece *digest.Piece) (*digest.Result, error) {
	return &digest.Result{Crc32: crc32.ChecksumIEEE(piece.Data), Bytes: uint64(len(piece.Data))}, nil
}

func (server) Follow(stream digest.Digest_FollowServer) error {
	var sum digest.Result
	for {
		piece, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		sum.Crc32 = crc32.Update(sum.Crc32, crc32.IEEETable, piece.Data)
		sum.Bytes += uint64(len(piece.Data))
		if err := stream.Send(&digest.Result{Crc32: sum.Crc32, Bytes: sum.Bytes}); err != nil {
			return err
		}
	}
}

func main() {
	address := ":50051"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	service := grpc.NewServer()
	digest.RegisterDigestServer(service, server{})
	log.Fatal(service.Serve(listener))
}
