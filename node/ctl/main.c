/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqpctl: the operator's tool. */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "../../common/client.h"
#include "../../common/limits.h"
#include "../../common/version.h"
#include "../option.h"
#include "ctl.h"

#define PINGS_MAX 1000000

static const struct ctl_command commands[] = {
	{ "status", NULL, "s", 0, 0, "", "the node, vqpd and its meta servers, and the module's counters", ctl_status },
	{ "ns", "list", "", 0, 0, "", "VQP namespaces of this node", ctl_ns_list },
	{ "ns", "add", "ntaNVMBRPWS", 0, 0, "--netns NETNS --tenant T --address A [--name NAME] [--without-policy] [LIMIT]... [--sockets SOCKETS]",
	  "make the VQP namespace of a network namespace", ctl_ns_add },
	{ "ns", "set", "ntaVMBRPS", 0, 0, "--netns NETNS | --tenant T --address A, and LIMIT... or --sockets SOCKETS",
	  "change limits of a VQP namespace that is there", ctl_ns_set },
	{ "ns", "del", "nta", 0, 0, "--netns NETNS | --tenant T --address A", "remove it", ctl_ns_del },
	{ "vqps", NULL, "", 0, 0, "", "VQPs of this node", ctl_vqps },
	{ "peers", NULL, "", 0, 0, "", "nodes that this one has talked to", ctl_peers },
	{ "ss", NULL, "", 0, 0, "", "stream sockets of vqp on this node, and where they are connected", ctl_ss },
	{ "pool", NULL, "", 0, 0, "", "the warm queue pairs that VQPs share", ctl_pool },
	{ "meta", "list", "", 0, 0, "", "meta servers the kernel asks", ctl_meta_list },
	{ "meta", "set", "", 0, VQP_META_MAX, "[HOST[:PORT]]...",
	  "have it ask these (none: nobody); vqpd does this by itself", ctl_meta_set },
	{ "cache", "list", "", 0, 0, "", "addresses the kernel has looked up", ctl_cache_list },
	{ "cache", "flush", "ta", 0, 0, "[--tenant T --address A]", "forget them, or one of them", ctl_cache_flush },
	{ "ping", NULL, "nc", 1, 1, "ADDRESS [--count N] [--netns NETNS]",
	  "time round trips to an address of the same tenant; from the host: to a node", ctl_ping },
	{ "selftest", NULL, "DF", 0, 0, "[--device DEVICE] [--full]",
	  "what the RDMA device can do, and whether it is what vqp needs", ctl_selftest },
	{ "doctor", NULL, "sAb", 0, 0, "[--all] [--bundle FILE] [--socket PATH]",
	  "what is wrong with this node, and what to do", ctl_doctor },
	{ "policy", "init", "f", 0, 0, "[--force]", "write the policy that this node's files stand for", ctl_policy_init },
	{ "policy", "check", "", 0, 1, "[FILE]", "is the policy right, and does it count?", ctl_policy_check },
	{ "policy", "explain", "kpnwai", 0, 0,
	  "--container ID | --pid N | --netns NETNS | --address A..., and [--network LIST] [--annotation KEY=VALUE]...",
	  "what the policy gives to a container, and by which rule", ctl_policy_explain },
	{ "configure", NULL, "drC", 1, 1, "docker|containerd|podman|crio [--config PATH] [--dry-run] [--remove]",
	  "tell a container engine of the runtime vqp, or take that back", ctl_configure },
	{ "cdi", NULL, "", 0, 0, "", "print the CDI specification of the device vqp.io/device=vqp", ctl_cdi },
};

#define NCOMMANDS (sizeof(commands) / sizeof(*commands))

static void print_help(const char *noun)
{
	puts("Usage: vqpctl COMMAND [OPTION]...");
	puts("");
	for (unsigned int i = 0; i < NCOMMANDS; i++) {
		const struct ctl_command *c = &commands[i];

		if (noun && strcmp(noun, c->noun))
			continue;
		printf("  vqpctl %s%s%s%s%s\n        %s\n", c->noun, c->verb ? " " : "", c->verb ? c->verb : "",
		       *c->usage ? " " : "", c->usage, c->summary);
	}
	puts("");
	puts("  -j, --json         print JSON");
	puts("  -h, --help         this text");
	puts("  --version          print the version");
	puts("  NETNS              a name as in ip netns, a path, or pid:N");
	puts("  LIMIT              what it may have at once: --max-vqps N, --max-mrs N (memory regions),");
	puts("                     --max-bytes SIZE (that regions pin, and of arenas; K, M, G and T are powers of 1024);");
	puts("                     or what it may send: --max-rate SIZE (in a second, from 64K), --priority low|normal|high;");
	puts("                     each but the priority may be \"" VQP_LIMITS_UNLIMITED "\"");
	puts("  --sockets SOCKETS  may stream sockets of vqp's protocol go by vqp: on, off (the default), or where");
	puts("                     those of these ports and peers may: only:80,8000-8999,10.7.0.0/16,except:8080");
	puts("  --count N          how many round trips (default 5)");
	puts("  --device DEVICE    an RDMA device (default: the one that vqp uses, or would use)");
	puts("  --full             with --json, also addresses and numbers that tell which machine it is");
	puts("  --all              with doctor, also what is right");
	puts("  --bundle FILE      what a report of a fault needs, without secrets: FILE.tar.gz, or a directory");
	puts("  --config PATH      the engine's main file, where that is not the usual one");
	puts("  --dry-run          change nothing, print what would be written");
	puts("  --remove           take out what configure has written, and nothing else");
	puts("  --force            have policy init replace a policy that is there");
	puts("  --container ID     a container of docker, podman, containerd, CRI-O, runc or crun; with docker and podman also its name");
	puts("  --network LIST     the CNI network list that attaches the container");
	puts("  --annotation K=V   an annotation of the container");
	puts("  --without-policy   do not ask the policy");
	puts("  --socket PATH      of vqpd, for status and doctor (default " VQPD_SOCKET_PATH ")");
	puts("");
	puts("Exit status: 0, or as in sysexits.h; 1: a check of selftest failed, or doctor found a fault; 69: no module, no daemon or no RDMA device; 68: nobody has the");
	puts("address; 66: no such thing; 73: it exists already; 75: no answer; 77: no permission; 64: usage.");
}

/* Finds the command that the words name, and removes its name from them. */
static const struct ctl_command *find_command(char ***words, int *nwords)
{
	bool noun_known = false;

	for (unsigned int i = 0; i < NCOMMANDS && *nwords; i++) {
		const struct ctl_command *c = &commands[i];

		if (strcmp(c->noun, (*words)[0]))
			continue;
		noun_known = true;
		if (c->verb && (*nwords < 2 || strcmp(c->verb, (*words)[1])))
			continue;
		*words += c->verb ? 2 : 1;
		*nwords -= c->verb ? 2 : 1;
		return c;
	}
	if (!*nwords)
		errx(EX_USAGE, "no command (vqpctl --help)");
	if (noun_known)
		errx(EX_USAGE, "what to do with %s? (vqpctl %s --help)", (*words)[0], (*words)[0]);
	errx(EX_USAGE, "no command '%s' (vqpctl --help)", (*words)[0]);
}

/* Returns a limit: a number of objects or of bytes, or CTL_UNLIMITED. */
static int64_t take_limit(const char *option, const char *value)
{
	int64_t max;

	if (!strcmp(value, VQP_LIMITS_UNLIMITED))
		return CTL_UNLIMITED;
	if (vqp_option_parse_size(value, &max))
		errx(EX_USAGE, "%s takes a number, also with K, M, G or T, or " VQP_LIMITS_UNLIMITED ", not '%s'",
		     option, value);
	return max;
}

static uint8_t take_priority(const char *value)
{
	for (uint8_t i = VQP_PRIORITY_LOW; ctl_priorities[i]; i++)
		if (!strcmp(ctl_priorities[i], value))
			return i;
	errx(EX_USAGE, "--priority takes low, normal or high, not '%s'", value);
}

/* Adds a value of an option that may be given several times. */
static void add_value(const char *option, const char *values[], unsigned int *count, unsigned int max, const char *value)
{
	if (*count == max)
		errx(EX_USAGE, "%s may be given %u times", option, max);
	values[(*count)++] = value;
}

static void take_option(struct ctl_args *args, int option, const char *value)
{
	switch (option) {
	case 'j':
		args->json = true;
		break;
	case 'n':
		args->netns = value;
		break;
	case 't':
		args->has_tenant = true;
		args->tenant = vqp_option_number("--tenant", value, 0, UINT32_MAX);
		break;
	case 'a':
		args->address = value;
		add_value("--address", args->addresses, &args->naddresses, CTL_ADDRESSES_MAX, value);
		break;
	case 'i':
		add_value("--annotation", args->annotations, &args->nannotations, CTL_ANNOTATIONS_MAX, value);
		break;
	case 'k':
		args->container = value;
		break;
	case 'p':
		args->pid = vqp_option_number("--pid", value, 1, INT32_MAX);
		break;
	case 'w':
		args->network = value;
		break;
	case 'f':
		args->force = true;
		break;
	case 'W':
		args->without_policy = true;
		break;
	case 'N':
		args->name = value;
		break;
	case 'c':
		args->count = vqp_option_number("--count", value, 1, PINGS_MAX);
		break;
	case 's':
		args->socket = value;
		break;
	case 'D':
		args->device = value;
		break;
	case 'F':
		args->full = true;
		break;
	case 'A':
		args->all = true;
		break;
	case 'b':
		args->bundle = value;
		break;
	case 'C':
		args->config = value;
		break;
	case 'd':
		args->dry_run = true;
		break;
	case 'r':
		args->remove = true;
		break;
	case 'V':
		args->max_vqps = take_limit("--max-vqps", value);
		break;
	case 'M':
		args->max_mrs = take_limit("--max-mrs", value);
		break;
	case 'B':
		args->max_bytes = take_limit("--max-bytes", value);
		break;
	case 'R':
		args->max_rate = take_limit("--max-rate", value);
		if (args->max_rate != CTL_UNLIMITED && args->max_rate < VQP_RATE_MIN)
			errx(EX_USAGE, "--max-rate takes " VQP_LIMITS_UNLIMITED ", or at least %d, not '%s'", VQP_RATE_MIN, value);
		break;
	case 'P':
		args->priority = take_priority(value);
		break;
	case 'S':
		args->sockets = value;
		break;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ "netns", required_argument, NULL, 'n' },
		{ "tenant", required_argument, NULL, 't' },
		{ "address", required_argument, NULL, 'a' },
		{ "name", required_argument, NULL, 'N' },
		{ "count", required_argument, NULL, 'c' },
		{ "socket", required_argument, NULL, 's' },
		{ "device", required_argument, NULL, 'D' },
		{ "full", no_argument, NULL, 'F' },
		{ "all", no_argument, NULL, 'A' },
		{ "bundle", required_argument, NULL, 'b' },
		{ "config", required_argument, NULL, 'C' },
		{ "dry-run", no_argument, NULL, 'd' },
		{ "remove", no_argument, NULL, 'r' },
		{ "max-vqps", required_argument, NULL, 'V' },
		{ "max-mrs", required_argument, NULL, 'M' },
		{ "max-bytes", required_argument, NULL, 'B' },
		{ "max-rate", required_argument, NULL, 'R' },
		{ "priority", required_argument, NULL, 'P' },
		{ "sockets", required_argument, NULL, 'S' },
		{ "force", no_argument, NULL, 'f' },
		{ "container", required_argument, NULL, 'k' },
		{ "pid", required_argument, NULL, 'p' },
		{ "network", required_argument, NULL, 'w' },
		{ "annotation", required_argument, NULL, 'i' },
		{ "without-policy", no_argument, NULL, 'W' },
		{ 0 },
	};
	struct ctl_args args = {
		.count = 5,
		.max_vqps = CTL_NOT_GIVEN, .max_mrs = CTL_NOT_GIVEN,
		.max_bytes = CTL_NOT_GIVEN, .max_rate = CTL_NOT_GIVEN,
	};
	const struct ctl_command *command;
	char given[sizeof(options) / sizeof(*options)] = "";
	int option, index;
	bool help = false;

	while ((option = getopt_long(argc, argv, "jh", options, &index)) >= 0) {
		if (option == '?')
			return EX_USAGE;
		if (option == 'v') {
			printf("vqpctl %s\n", vqp_version);
			return 0;
		}
		if (option == 'h')
			help = true;
		else if (option != 'j' && !strchr(given, option))
			given[strlen(given)] = option;
		take_option(&args, option, optarg);
	}
	args.words = argv + optind;
	args.nwords = argc - optind;
	if (help) {
		print_help(args.nwords ? args.words[0] : NULL);
		return 0;
	}

	command = find_command(&args.words, &args.nwords);
	for (const char *c = given; *c; c++)
		for (unsigned int i = 0; options[i].name; i++)
			if (options[i].val == *c && !strchr(command->options, *c))
				errx(EX_USAGE, "%s takes no --%s (vqpctl %s --help)", command->noun,
				     options[i].name, command->noun);
	if (args.nwords < command->min_words || args.nwords > command->max_words)
		errx(EX_USAGE, "usage: vqpctl %s%s%s %s", command->noun, command->verb ? " " : "",
		     command->verb ? command->verb : "", command->usage);
	return command->run(&args);
}
