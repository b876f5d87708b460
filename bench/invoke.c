// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "invoke.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INVOKE_TIMEOUT_SECONDS	20L
#define INVOKE_ANSWER_MAX	4096

struct invoke {
	CURL *curl;
	const char *url;
	char answer[INVOKE_ANSWER_MAX];
	size_t bytes;
};

static size_t invoke_collect(char *data, size_t size, size_t count, void *arg)
{
	struct invoke *agent = arg;
	size_t bytes = size * count;

	if (agent->bytes + bytes >= sizeof(agent->answer))
		return 0;
	memcpy(agent->answer + agent->bytes, data, bytes);
	agent->bytes += bytes;
	return bytes;
}

struct invoke *invoke_open(const char *url)
{
	struct invoke *agent = calloc(1, sizeof(*agent));

	if (!agent)
		return NULL;
	agent->url = url;
	agent->curl = curl_easy_init();
	if (!agent->curl) {
		free(agent);
		return NULL;
	}
	curl_easy_setopt(agent->curl, CURLOPT_WRITEFUNCTION, invoke_collect);
	curl_easy_setopt(agent->curl, CURLOPT_WRITEDATA, agent);
	curl_easy_setopt(agent->curl, CURLOPT_TIMEOUT, INVOKE_TIMEOUT_SECONDS);
	curl_easy_setopt(agent->curl, CURLOPT_NOSIGNAL, 1L);
	return agent;
}

void invoke_close(struct invoke *agent)
{
	if (!agent)
		return;
	curl_easy_cleanup(agent->curl);
	free(agent);
}

json_t *invoke_call(struct invoke *agent, const char *function, json_t *input)
{
	char *body = json_dumps(input, JSON_COMPACT);
	json_t *answer = NULL;
	long status = 0;
	char url[256];
	CURLcode code;

	json_decref(input);
	if (!body)
		return NULL;
	agent->bytes = 0;
	snprintf(url, sizeof(url), "%s/invoke/%s", agent->url, function);
	curl_easy_setopt(agent->curl, CURLOPT_URL, url);
	curl_easy_setopt(agent->curl, CURLOPT_POSTFIELDS, body);
	code = curl_easy_perform(agent->curl);
	agent->answer[agent->bytes] = 0;
	curl_easy_getinfo(agent->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK)
		fprintf(stderr, "%s %s: %s\n", url, body, curl_easy_strerror(code));
	else if (status != 200)
		fprintf(stderr, "%s %s: status %ld: %s\n", url, body, status, agent->answer);
	else
		answer = json_loads(agent->answer, 0, NULL);
	free(body);
	return answer;
}
