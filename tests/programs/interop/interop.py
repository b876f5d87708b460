#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""interop.py server|client ADDRESS:PORT: gRPC's interoperability tests in Python; the client prints a line for each."""

import concurrent.futures
import sys
import threading
import time

import grpc
from interop_pb2 import (Empty, EchoStatus, Payload, ResponseParameters, SimpleRequest, SimpleResponse,
                         StreamingInputCallRequest, StreamingInputCallResponse, StreamingOutputCallRequest,
                         StreamingOutputCallResponse)
import interop_pb2_grpc

LARGE_REQUEST, LARGE_RESPONSE = 271828, 314159
SIZES_SENT = [27182, 8, 1828, 45904]
SIZES_RECEIVED = [31415, 9, 2653, 58979]


def zeros(count):
    return Payload(body=bytes(count))


class Server(interop_pb2_grpc.TestServiceServicer):
    def EmptyCall(self, request, context):
        return Empty()

    def UnaryCall(self, request, context):
        if request.HasField("response_status"):
            context.set_code(next(code for code in grpc.StatusCode if code.value[0] == request.response_status.code))
            context.set_details(request.response_status.message)
            return SimpleResponse()
        return SimpleResponse(payload=zeros(request.response_size))

    def StreamingOutputCall(self, request, context):
        for parameters in request.response_parameters:
            time.sleep(parameters.interval_us / 1e6)
            yield StreamingOutputCallResponse(payload=zeros(parameters.size))

    def StreamingInputCall(self, requests, context):
        return StreamingInputCallResponse(aggregated_payload_size=sum(len(r.payload.body) for r in requests))

    def FullDuplexCall(self, requests, context):
        for request in requests:
            yield from self.StreamingOutputCall(request, context)


def serve(address):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=8))
    interop_pb2_grpc.add_TestServiceServicer_to_server(Server(), server)
    if not server.add_insecure_port(address):
        sys.exit(f"{address} cannot be bound")
    server.start()
    server.wait_for_termination()


def wants(size, *sent):
    return StreamingOutputCallRequest(response_parameters=[ResponseParameters(size=size)],
                                      payload=zeros(sent[0]) if sent else None)


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return f"{error.code().value[0]} {error.details()}"
    return "0"


def empty_unary(stub):
    return stub.EmptyCall(Empty()).ByteSize()


def large_unary(stub):
    request = SimpleRequest(response_size=LARGE_RESPONSE, payload=zeros(LARGE_REQUEST))
    return len(stub.UnaryCall(request).payload.body)


def client_streaming(stub):
    sent = (StreamingInputCallRequest(payload=zeros(size)) for size in SIZES_SENT)
    return stub.StreamingInputCall(sent).aggregated_payload_size


def server_streaming(stub):
    request = StreamingOutputCallRequest(response_parameters=[ResponseParameters(size=s) for s in SIZES_RECEIVED])
    return [len(response.payload.body) for response in stub.StreamingOutputCall(request)]


def ping_pong(stub):
    asked = (wants(size, sent) for size, sent in zip(SIZES_RECEIVED, SIZES_SENT))
    return [len(response.payload.body) for response in stub.FullDuplexCall(asked)]


def empty_stream(stub):
    return len(list(stub.FullDuplexCall(iter(()))))


def cancel_after_begin(stub):
    over = threading.Event()
    call = stub.StreamingInputCall.future(iter(over.wait, True))
    call.cancel()
    over.set()
    return "cancelled" if call.cancelled() else "not"


def cancel_after_first_response(stub):
    call = stub.FullDuplexCall(iter([wants(SIZES_RECEIVED[0], SIZES_SENT[0])]))
    first = len(next(call).payload.body)
    # All has been asked, so that the call may have ended by itself.
    call.cancel()
    return first


def timeout_on_sleeping_server(stub):
    request = StreamingOutputCallRequest(response_parameters=[ResponseParameters(size=1, interval_us=30_000_000)])
    return code_of(lambda: list(stub.StreamingOutputCall(request, timeout=0.3))).split()[0]


def status_code_and_message(stub):
    status = EchoStatus(code=2, message="test status message")
    return code_of(lambda: stub.UnaryCall(SimpleRequest(response_status=status)))


def unimplemented_method(stub):
    return code_of(lambda: stub.UnimplementedCall(Empty())).split()[0]


def many_at_a_time(stub):
    calls = [stub.UnaryCall.future(SimpleRequest(response_size=1000 * i, payload=zeros(500 * i))) for i in range(40)]
    return sum(len(call.result().payload.body) for call in calls)


CASES = [empty_unary, large_unary, client_streaming, server_streaming, ping_pong, empty_stream, cancel_after_begin,
         cancel_after_first_response, timeout_on_sleeping_server, status_code_and_message, unimplemented_method,
         many_at_a_time]


def ask(address):
    with grpc.insecure_channel(address) as channel:
        stub = interop_pb2_grpc.TestServiceStub(channel)
        for case in CASES:
            print(f"{case.__name__}: {case(stub)}", flush=True)


if __name__ == "__main__":
    {"server": serve, "client": ask}[sys.argv[1]](sys.argv[2])
