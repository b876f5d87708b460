// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// server [ADDRESS:PORT]: digest.proto's service in C++.
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>
#include <zlib.h>

#include "digest.grpc.pb.h"

// Adds a piece to what was there before.
static void add(const digest::Piece &piece, digest::Result *sum)
{
	const auto *data = reinterpret_cast<const Bytef *>(piece.data().data());

	sum->set_crc32(crc32_z(sum->crc32(), data, piece.data().size()));
	sum->set_bytes(sum->bytes() + piece.data().size());
}

class Server final : public digest::Digest::Service {
	grpc::Status Sum(grpc::ServerContext *, const digest::Piece *piece, digest::Result *result) override
	{
		add(*piece, result);
		return grpc::Status::OK;
	}

	grpc::Status Follow(grpc::ServerContext *,
			    grpc::ServerReaderWriter<digest::Result, digest::Piece> *stream) override
	{
		digest::Piece piece;
		digest::Result sum;

		while (stream->Read(&piece)) {
			add(piece, &sum);
			stream->Write(sum);
		}
		return grpc::Status::OK;
	}
};

int main(int argc, char **argv)
{
	std::string address = argc > 1 ? argv[1] : "0.0.0.0:50051";
	Server service;
	grpc::ServerBuilder builder;

	builder.AddListeningPort(address, grpc::InsecureServerCredentials());
	builder.RegisterService(&service);
	std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
	if (!server)
		return 1;
	server->Wait();
}
