// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// interop-go server|client ADDRESS:PORT: gRPC's interoperability tests in Go; the client prints a line for each.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tests/interop"
)

var (
	sizesSent     = []int{27182, 8, 1828, 45904}
	sizesReceived = []int32{31415, 9, 2653, 58979}
)

type server struct {
	interop.UnimplementedTestServiceServer
}

func zeros(size int) *interop.Payload {
	return &interop.Payload{Body: make([]byte, size)}
}

func (server) EmptyCall(context.Context, *interop.Empty) (*interop.Empty, error) {
	return &interop.Empty{}, nil
}

func (server) UnaryCall(_ context.Context, request *interop.SimpleRequest) (*interop.SimpleResponse, error) {
	if told := request.GetResponseStatus(); told.GetCode() != 0 {
		return nil, status.Error(codes.Code(told.Code), told.Message)
	}
	return &interop.SimpleResponse{Payload: zeros(int(request.ResponseSize))}, nil
}

type sender interface {
	Send(*interop.StreamingOutputCallResponse) error
}

func answer(request *interop.StreamingOutputCallRequest, stream sender) error {
	for _, parameters := range request.ResponseParameters {
		time.Sleep(time.Duration(parameters.IntervalUs) * time.Microsecond)
		if err := stream.Send(&interop.StreamingOutputCallResponse{Payload: zeros(int(parameters.Size))}); err != nil {
			return err
		}
	}
	return nil
}

func (server) StreamingOutputCall(request *interop.StreamingOutputCallRequest, stream interop.TestService_StreamingOutputCallServer) error {
	return answer(request, stream)
}

func (server) StreamingInputCall(stream interop.TestService_StreamingInputCallServer) error {
	sum := 0
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&interop.StreamingInputCallResponse{AggregatedPayloadSize: int32(sum)})
		}
		if err != nil {
			return err
		}
		sum += len(request.GetPayload().GetBody())
	}
}

func (server) FullDuplexCall(stream interop.TestService_FullDuplexCallServer) error {
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = answer(request, stream)
		}
		if err != nil {
			return err
		}
	}
}

func serve(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	interop.RegisterTestServiceServer(s, &server{})
	return s.Serve(listener)
}

func wants(received int32, sent int) *interop.StreamingOutputCallRequest {
	return &interop.StreamingOutputCallRequest{
		ResponseParameters: []*interop.ResponseParameters{{Size: received}},
		Payload:            zeros(sent),
	}
}

type receiver interface {
	Recv() (*interop.StreamingOutputCallResponse, error)
}

// received is what comes until the end, and the end
func received(stream receiver) string {
	said := ""
	for {
		response, err := stream.Recv()
		if err == io.EOF {
			return said + "0"
		}
		if err != nil {
			return said + fmt.Sprint(int(status.Code(err)))
		}
		said += fmt.Sprint(len(response.GetPayload().GetBody())) + " "
	}
}

func emptyUnary(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	_, err := stub.EmptyCall(ctx, &interop.Empty{})
	return "0", err
}

func largeUnary(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	response, err := stub.UnaryCall(ctx, &interop.SimpleRequest{ResponseSize: 314159, Payload: zeros(271828)})
	return fmt.Sprint(len(response.GetPayload().GetBody())), err
}

func clientStreaming(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	stream, err := stub.StreamingInputCall(ctx)
	for _, size := range sizesSent {
		if err == nil {
			err = stream.Send(&interop.StreamingInputCallRequest{Payload: zeros(size)})
		}
	}
	if err != nil {
		return "", err
	}
	response, err := stream.CloseAndRecv()
	return fmt.Sprint(response.GetAggregatedPayloadSize()), err
}

func serverStreaming(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	request := &interop.StreamingOutputCallRequest{}
	for _, size := range sizesReceived {
		request.ResponseParameters = append(request.ResponseParameters, &interop.ResponseParameters{Size: size})
	}
	stream, err := stub.StreamingOutputCall(ctx, request)
	if err != nil {
		return "", err
	}
	return received(stream), nil
}

func pingPong(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	stream, err := stub.FullDuplexCall(ctx)
	if err != nil {
		return "", err
	}
	said := ""
	for i := range sizesSent {
		if err := stream.Send(wants(sizesReceived[i], sizesSent[i])); err != nil {
			return said, err
		}
		response, err := stream.Recv()
		if err != nil {
			return said, err
		}
		said += fmt.Sprint(len(response.GetPayload().GetBody())) + " "
	}
	err = stream.CloseSend()
	return said + received(stream), err
}

func emptyStream(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	stream, err := stub.FullDuplexCall(ctx)
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil {
		return "", err
	}
	return received(stream), nil
}

func cancelAfterBegin(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := stub.StreamingInputCall(ctx)
	if err != nil {
		return "", err
	}
	cancel()
	err = stream.RecvMsg(&interop.StreamingInputCallResponse{})
	return fmt.Sprint(int(status.Code(err))), nil
}

func cancelAfterFirstResponse(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := stub.FullDuplexCall(ctx)
	if err == nil {
		err = stream.Send(wants(sizesReceived[0], sizesSent[0]))
	}
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		return "", err
	}
	cancel()
	return received(stream), nil
}

func timeoutOnSleepingServer(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	request := wants(1, 1)
	request.ResponseParameters[0].IntervalUs = 30000000
	stream, err := stub.StreamingOutputCall(ctx, request)
	if err != nil {
		return fmt.Sprint(int(status.Code(err))), nil
	}
	return received(stream), nil
}

func statusCodeAndMessage(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	_, err := stub.UnaryCall(ctx, &interop.SimpleRequest{ResponseStatus: &interop.EchoStatus{Code: 2, Message: "test status message"}})
	return fmt.Sprint(err), nil
}

func unimplementedMethod(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	_, err := stub.UnimplementedCall(ctx, &interop.Empty{})
	return fmt.Sprint(int(status.Code(err))), nil
}

func manyAtATime(ctx context.Context, stub interop.TestServiceClient) (string, error) {
	var wait sync.WaitGroup
	sizes := make([]int, 40)
	for i := range sizes {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			response, _ := stub.UnaryCall(ctx, &interop.SimpleRequest{ResponseSize: int32(1000 * i), Payload: zeros(500 * i)})
			sizes[i] = len(response.GetPayload().GetBody())
		}(i)
	}
	wait.Wait()
	sum := 0
	for _, size := range sizes {
		sum += size
	}
	return fmt.Sprint(sum), nil
}

var cases = []struct {
	name string
	run  func(context.Context, interop.TestServiceClient) (string, error)
}{
	{"empty_unary", emptyUnary},
	{"large_unary", largeUnary},
	{"client_streaming", clientStreaming},
	{"server_streaming", serverStreaming},
	{"ping_pong", pingPong},
	{"empty_stream", emptyStream},
	{"cancel_after_begin", cancelAfterBegin},
	{"cancel_after_first_response", cancelAfterFirstResponse},
	{"timeout_on_sleeping_server", timeoutOnSleepingServer},
	{"status_code_and_message", statusCodeAndMessage},
	{"unimplemented_method", unimplementedMethod},
	{"many_at_a_time", manyAtATime},
}

func ask(address string) error {
	connection, err := grpc.Dial(address, grpc.WithInsecure(), grpc.WithBlock())
	if err != nil {
		return err
	}
	defer connection.Close()
	stub := interop.NewTestServiceClient(connection)
	for _, c := range cases {
		said, err := c.run(context.Background(), stub)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("%s: %s\n", c.name, said)
	}
	return nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "Usage: interop-go server|client ADDRESS:PORT")
		os.Exit(2)
	}
	run := ask
	if os.Args[1] == "server" {
		run = serve
	}
	if err := run(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
