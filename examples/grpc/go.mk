# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# How programs in Go that use digest.proto are built, of Debian's packages alone. A makefile that includes this has
# TOP and O; its programs depend on $(DIGEST_GO).

GRPC_OUT := $(abspath $(O))/grpc
DIGEST_GO := $(GRPC_OUT)/go/src/examples/digest/digest.pb.go

# Go keeps there what it has compiled of gRPC; the toolbox says where
GOCACHE	?= $(GRPC_OUT)/go-cache
GO_ENV	:= GO111MODULE=off GOPATH=$(GRPC_OUT)/go:/usr/share/gocode GOFLAGS=-trimpath GOPROXY=off CGO_ENABLED=0 \
	   GOCACHE=$(GOCACHE)
GO_BUILD := $(GO_ENV) go build -ldflags='-s -w'

$(DIGEST_GO): $(TOP)/examples/grpc/digest.proto $(TOP)/examples/grpc/generate
	$(TOP)/examples/grpc/generate go $< $(GRPC_OUT)/go
