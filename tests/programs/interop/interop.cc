// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// interop-cc server|client ADDRESS:PORT: gRPC's interoperability tests in C++; the client prints a line for each.
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "interop.grpc.pb.h"

using namespace grpc::testing;

static const std::vector<int> sizes_sent = { 27182, 8, 1828, 45904 };
static const std::vector<int> sizes_received = { 31415, 9, 2653, 58979 };

static void fill(Payload *payload, int size)
{
	payload->set_body(std::string(size, '\0'));
}

class Server final : public TestService::Service {
	grpc::Status EmptyCall(grpc::ServerContext *, const Empty *, Empty *) override
	{
		return grpc::Status::OK;
	}

	grpc::Status UnaryCall(grpc::ServerContext *, const SimpleRequest *request,
			       SimpleResponse *response) override
	{
		const EchoStatus &status = request->response_status();

		if (status.code())
			return grpc::Status(grpc::StatusCode(status.code()), status.message());
		fill(response->mutable_payload(), request->response_size());
		return grpc::Status::OK;
	}

	template <typename Writer> void answer(const StreamingOutputCallRequest &request, Writer *writer)
	{
		for (const ResponseParameters &parameters : request.response_parameters()) {
			StreamingOutputCallResponse response;

			std::this_thread::sleep_for(std::chrono::microseconds(parameters.interval_us()));
			fill(response.mutable_payload(), parameters.size());
			writer->Write(response);
		}
	}

	grpc::Status StreamingOutputCall(grpc::ServerContext *, const StreamingOutputCallRequest *request,
					 grpc::ServerWriter<StreamingOutputCallResponse> *writer) override
	{
		answer(*request, writer);
		return grpc::Status::OK;
	}

	grpc::Status StreamingInputCall(grpc::ServerContext *, grpc::ServerReader<StreamingInputCallRequest> *reader,
					StreamingInputCallResponse *response) override
	{
		StreamingInputCallRequest request;
		int sum = 0;

		while (reader->Read(&request))
			sum += request.payload().body().size();
		response->set_aggregated_payload_size(sum);
		return grpc::Status::OK;
	}

	grpc::Status FullDuplexCall(grpc::ServerContext *, grpc::ServerReaderWriter<StreamingOutputCallResponse,
				    StreamingOutputCallRequest> *stream) override
	{
		StreamingOutputCallRequest request;

		while (stream->Read(&request))
			answer(request, stream);
		return grpc::Status::OK;
	}
};

static int serve(const char *address)
{
	Server service;
	grpc::ServerBuilder builder;
	int port = 0;

	builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
	builder.RegisterService(&service);
	std::unique_ptr<grpc::Server> server(builder.BuildAndStart());
	if (!server || !port) {
		std::cerr << address << " cannot be bound\n";
		return 1;
	}
	server->Wait();
	return 0;
}

using Stub = TestService::Stub;

static StreamingOutputCallRequest wants(int received, int sent)
{
	StreamingOutputCallRequest request;

	request.add_response_parameters()->set_size(received);
	fill(request.mutable_payload(), sent);
	return request;
}

static std::string told(const grpc::Status &status)
{
	return std::to_string(status.error_code()) + (status.ok() ? "" : " ") + status.error_message();
}

static std::string empty_unary(Stub &stub)
{
	grpc::ClientContext context;
	Empty response;

	return told(stub.EmptyCall(&context, Empty(), &response));
}

static std::string large_unary(Stub &stub)
{
	grpc::ClientContext context;
	SimpleRequest request;
	SimpleResponse response;

	request.set_response_size(314159);
	fill(request.mutable_payload(), 271828);
	const grpc::Status status = stub.UnaryCall(&context, request, &response);
	return told(status) + " " + std::to_string(response.payload().body().size());
}

static std::string client_streaming(Stub &stub)
{
	grpc::ClientContext context;
	StreamingInputCallResponse response;
	auto writer = stub.StreamingInputCall(&context, &response);

	for (int size : sizes_sent) {
		StreamingInputCallRequest request;

		fill(request.mutable_payload(), size);
		writer->Write(request);
	}
	writer->WritesDone();
	return told(writer->Finish()) + " " + std::to_string(response.aggregated_payload_size());
}

static std::string server_streaming(Stub &stub)
{
	grpc::ClientContext context;
	StreamingOutputCallRequest request;
	StreamingOutputCallResponse response;
	std::string sizes;

	for (int size : sizes_received)
		request.add_response_parameters()->set_size(size);
	auto reader = stub.StreamingOutputCall(&context, request);
	while (reader->Read(&response))
		sizes += std::to_string(response.payload().body().size()) + " ";
	return sizes + told(reader->Finish());
}

static std::string ping_pong(Stub &stub)
{
	grpc::ClientContext context;
	StreamingOutputCallResponse response;
	std::string sizes;
	auto stream = stub.FullDuplexCall(&context);

	for (size_t i = 0; i < sizes_sent.size(); i++) {
		if (!stream->Write(wants(sizes_received[i], sizes_sent[i])) || !stream->Read(&response))
			break;
		sizes += std::to_string(response.payload().body().size()) + " ";
	}
	stream->WritesDone();
	return sizes + told(stream->Finish());
}

static std::string empty_stream(Stub &stub)
{
	grpc::ClientContext context;
	StreamingOutputCallResponse response;
	auto stream = stub.FullDuplexCall(&context);

	stream->WritesDone();
	const bool some = stream->Read(&response);
	return (some ? "some " : "none ") + told(stream->Finish());
}

static std::string cancel_after_begin(Stub &stub)
{
	grpc::ClientContext context;
	StreamingInputCallResponse response;
	auto writer = stub.StreamingInputCall(&context, &response);

	context.TryCancel();
	return std::to_string(writer->Finish().error_code());
}

static std::string cancel_after_first_response(Stub &stub)
{
	grpc::ClientContext context;
	StreamingOutputCallResponse response;
	auto stream = stub.FullDuplexCall(&context);

	stream->Write(wants(sizes_received[0], sizes_sent[0]));
	const bool some = stream->Read(&response);
	context.TryCancel();
	return (some ? "some " : "none ") + std::to_string(stream->Finish().error_code());
}

static std::string timeout_on_sleeping_server(Stub &stub)
{
	grpc::ClientContext context;
	StreamingOutputCallRequest request = wants(1, 1);
	StreamingOutputCallResponse response;

	request.mutable_response_parameters(0)->set_interval_us(30000000);
	context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
	auto reader = stub.StreamingOutputCall(&context, request);
	while (reader->Read(&response))
		;
	return std::to_string(reader->Finish().error_code());
}

static std::string status_code_and_message(Stub &stub)
{
	grpc::ClientContext context;
	SimpleRequest request;
	SimpleResponse response;

	request.mutable_response_status()->set_code(2);
	request.mutable_response_status()->set_message("test status message");
	return told(stub.UnaryCall(&context, request, &response));
}

static std::string unimplemented_method(Stub &stub)
{
	grpc::ClientContext context;
	Empty response;

	return std::to_string(stub.UnimplementedCall(&context, Empty(), &response).error_code());
}

static std::string many_at_a_time(Stub &stub)
{
	std::vector<std::thread> threads;
	std::vector<size_t> sizes(8);
	size_t sum = 0;

	for (size_t i = 0; i < sizes.size(); i++)
		threads.emplace_back([&stub, &sizes, i] {
			for (int k = 0; k < 5; k++) {
				grpc::ClientContext context;
				SimpleRequest request;
				SimpleResponse response;

				request.set_response_size(1000 * (8 * k + i));
				fill(request.mutable_payload(), 500 * (8 * k + i));
				stub.UnaryCall(&context, request, &response);
				sizes[i] += response.payload().body().size();
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	for (size_t size : sizes)
		sum += size;
	return std::to_string(sum);
}

static const std::vector<std::pair<const char *, std::function<std::string(Stub &)>>> cases = {
	{ "empty_unary", empty_unary },
	{ "large_unary", large_unary },
	{ "client_streaming", client_streaming },
	{ "server_streaming", server_streaming },
	{ "ping_pong", ping_pong },
	{ "empty_stream", empty_stream },
	{ "cancel_after_begin", cancel_after_begin },
	{ "cancel_after_first_response", cancel_after_first_response },
	{ "timeout_on_sleeping_server", timeout_on_sleeping_server },
	{ "status_code_and_message", status_code_and_message },
	{ "unimplemented_method", unimplemented_method },
	{ "many_at_a_time", many_at_a_time },
};

static int ask(const char *address)
{
	auto stub = TestService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));

	for (auto &[name, run] : cases)
		std::cout << name << ": " << run(*stub) << std::endl;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		std::cerr << "Usage: interop-cc server|client ADDRESS:PORT\n";
		return 2;
	}
	return std::string(argv[1]) == "server" ? serve(argv[2]) : ask(argv[2]);
}
