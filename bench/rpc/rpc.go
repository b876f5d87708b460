// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// rpc ADDRESS:PORT MILLISECONDS BYTES...: how long calls of the service in examples/grpc take, by one connection. One
// caller has so many milliseconds for each size, then a crowd has twice as many. Every answer is compared. JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"sort"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"examples/digest"
)

const (
	// the first calls of a size are not counted: buffers and windows grow
	warmCalls  = 10
	crowd      = 8
	crowdBytes = 1024
)

type size struct {
	Bytes    int     `json:"bytes"`
	Calls    int     `json:"calls"`
	MedianUs float64 `json:"median_us"`
	P95Us    float64 `json:"p95_us"`
}

type results struct {
	Sizes     []size  `json:"sizes"`
	Crowd     int     `json:"crowd"`
	PerSecond float64 `json:"per_second"`
}

// A caller calls with the same piece again and again.
type caller struct {
	client digest.DigestClient
	piece  *digest.Piece
	crc32  uint32
}

func newCaller(connection *grpc.ClientConn, bytes int) caller {
	data := make([]byte, bytes)
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	return caller{digest.NewDigestClient(connection), &digest.Piece{Data: data}, crc32.ChecksumIEEE(data)}
}

func (c caller) call() error {
	result, err := c.client.Sum(context.Background(), c.piece)
	if err != nil {
		return err
	}
	if result.Crc32 != c.crc32 || result.Bytes != uint64(len(c.piece.Data)) {
		return fmt.Errorf("WRONG: the checksum of %d bytes is %08x, not %08x", result.Bytes, result.Crc32, c.crc32)
	}
	return nil
}

// until calls, and returns the microseconds that each call took, in ascending order.
func (c caller) until(end time.Time) ([]float64, error) {
	var took []float64
	for now := time.Now(); now.Before(end) || len(took) == 0; {
		if err := c.call(); err != nil {
			return nil, err
		}
		then := time.Now()
		took = append(took, float64(then.Sub(now).Nanoseconds())/1e3)
		now = then
	}
	sort.Float64s(took)
	return took, nil
}

func (c caller) warm() error {
	for i := 0; i < warmCalls; i++ {
		if err := c.call(); err != nil {
			return err
		}
	}
	return nil
}

func alone(connection *grpc.ClientConn, bytes int, limit time.Duration) (size, error) {
	c := newCaller(connection, bytes)
	if err := c.warm(); err != nil {
		return size{}, err
	}
	took, err := c.until(time.Now().Add(limit))
	if err != nil {
		return size{}, err
	}
	return size{bytes, len(took), took[len(took)/2], took[len(took)*95/100]}, nil
}

// together returns how many calls a second a crowd gets answered.
func together(connection *grpc.ClientConn, limit time.Duration) (float64, error) {
	type done struct {
		calls int
		err   error
	}
	all := make(chan done, crowd)
	begin := time.Now()
	for i := 0; i < crowd; i++ {
		go func() {
			took, err := newCaller(connection, crowdBytes).until(begin.Add(limit))
			all <- done{len(took), err}
		}()
	}
	calls := 0
	for i := 0; i < crowd; i++ {
		one := <-all
		if one.err != nil {
			return 0, one.err
		}
		calls += one.calls
	}
	return float64(calls) / time.Since(begin).Seconds(), nil
}

func measure(connection *grpc.ClientConn, limit time.Duration, sizes []int) (results, error) {
	var all results
	for _, bytes := range sizes {
		one, err := alone(connection, bytes, limit)
		if err != nil {
			return all, err
		}
		all.Sizes = append(all.Sizes, one)
	}
	var err error
	all.Crowd = crowd
	all.PerSecond, err = together(connection, 2*limit)
	return all, err
}

func main() {
	var numbers []int
	for i := 2; i < len(os.Args); i++ {
		number, err := strconv.Atoi(os.Args[i])
		if err != nil || number < 0 {
			log.Fatalf("rpc: %s is no number", os.Args[i])
		}
		numbers = append(numbers, number)
	}
	if len(numbers) < 2 {
		log.Fatal("usage: rpc ADDRESS:PORT MILLISECONDS BYTES...")
	}
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		log.Fatal("rpc: ", err)
	}
	all, err := measure(connection, time.Duration(numbers[0])*time.Millisecond, numbers[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		log.Fatal("rpc: ", err)
	}
}
