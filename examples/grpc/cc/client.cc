// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// client ADDRESS:PORT: for each line of its input, bytes and checksum of the line and of all lines until then, as
// digest.proto's service says.
#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "digest.grpc.pb.h"

using Stream = grpc::ClientReaderWriter<digest::Piece, digest::Result>;

// Prints what the service says of a line that the call `all` is told of, too.
static bool tell(digest::Digest::Stub *client, Stream *all, const std::string &line)
{
	grpc::ClientContext context;
	digest::Piece piece;
	digest::Result one, sum;

	piece.set_data(line);
	if (!client->Sum(&context, piece, &one).ok() || !all->Write(piece) || !all->Read(&sum))
		return false;
	std::printf("%" PRIu64 " %08x %" PRIu64 " %08x\n", one.bytes(), one.crc32(), sum.bytes(), sum.crc32());
	std::fflush(stdout);
	return true;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::cerr << "usage: client ADDRESS:PORT\n";
		return 2;
	}
	auto channel = grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials());
	auto client = digest::Digest::NewStub(channel);
	grpc::ClientContext context;
	std::unique_ptr<Stream> all = client->Follow(&context);
	bool good = true;

	for (std::string line; good && std::getline(std::cin, line);)
		good = tell(client.get(), all.get(), line + '\n');
	all->WritesDone();
	grpc::Status status = all->Finish();
	if (!status.ok())
		std::cerr << status.error_message() << '\n';
	return good && status.ok() ? 0 : 1;
}
