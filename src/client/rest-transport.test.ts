// Tests the transport with well-behaved and faulty servers. test/spec/client.test.ts tests it with
// the service itself.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { test } from "node:test";
import {
  clone,
  createFileRegistry,
  type DescMethodStreaming,
  type DescMethodUnary,
  type DescService,
  isMessage,
  type JsonObject,
  type Message,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, createClient, type Interceptor } from "@connectrpc/connect";
import { connectFailure } from "../../test/fixtures/connect-failure.ts";
import { file_transcoding, MSchema, Vectors } from "../../test/gen/transcoding_pb.ts";
import { until } from "../../test/fixtures/until.ts";
import { BadRequestSchema } from "../gen/google/rpc/error_details_pb.ts";
import { createRestTransport, type RestTransportOptions } from "./rest-transport.ts";

interface TestServer extends AsyncDisposable {
  readonly url: string;
}

async function serve(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === "object");
  return {
    url: `http://127.0.0.1:${bound.port}`,
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function clientOf(
  url: string,
  rule: JsonObject = { post: "/v1/echo", body: "*" },
  options: Partial<RestTransportOptions> = {},
) {
  const rules = [
    { selector: `${Vectors.typeName}.Echo`, ...rule },
    { selector: `${Vectors.typeName}.Raw`, put: "/v1/raw", body: "*" },
  ];
  return createClient(Vectors, createRestTransport({ url, rules, ...options }));
}

/** Returns the service of the vectors, with streams instead of Other and Raw. */
function streamingMethods(): { lines: DescMethodStreaming; up: DescMethodStreaming } {
  const proto = clone(FileDescriptorProtoSchema, file_transcoding.proto);
  for (const method of proto.service.flatMap((service) => service.method)) {
    if (method.name === "Other") method.serverStreaming = true;
    if (method.name === "Raw") method.clientStreaming = true;
  }
  const files = createFileRegistry(proto, (name) =>
    file_transcoding.dependencies.find((file) => file.proto.name === name),
  );
  const service = files.getService(Vectors.typeName);
  assert.ok(service);
  const streaming = (name: string): DescMethodStreaming => {
    const method = service.methods.find((one) => one.name === name);
    assert.ok(method && isStreaming(method));
    return method;
  };
  return { lines: streaming("Other"), up: streaming("Raw") };
}

function isStreaming(method: DescService["methods"][number]): method is DescMethodStreaming {
  return method.methodKind !== "unary";
}

/** Returns the responses of the server stream: the JSON of the field `s` in each response. */
async function lines(
  url: string,
  options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<AsyncIterable<Message>> {
  const rules = [{ selector: `${Vectors.typeName}.Other`, get: "/v1/lines" }];
  const transport = createRestTransport({ url, rules });
  async function* one() {
    yield { s: "ask" };
  }
  const { signal, timeoutMs } = options;
  const method = streamingMethods().lines;
  const response = await transport.stream(method, signal, timeoutMs, undefined, one());
  return response.message;
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(request));
}

test("a call is sent according to its HTTP rule, under the path of the base URL, with its token and headers", async () => {
  const seen: string[] = [];
  await using server = await serve((request, response) => {
    void bodyOf(request).then((body) => {
      const {
        authorization = "none",
        accept,
        "content-type": type = "none",
        other,
      } = request.headers;
      seen.push([request.method, request.url, authorization, accept, type, other, body].join(" "));
      response.setHeader("x-answered", "yes").end('{"s": "ö", "newField": {"a": 1}, "sub": null}');
    });
  });
  const url = `${server.url}/under/`;
  let asked = 0;
  const tokens = async () => await Promise.resolve(`t${++asked}`);
  const interceptor: Interceptor = (next) => async (request) => {
    request.header.set("other", "intercepted");
    const response = await next(request);
    assert.equal(response.header.get("x-answered"), "yes");
    return response;
  };
  const post = clientOf(url, undefined, { token: tokens, interceptors: [interceptor] });
  assert.equal((await post.echo({ s: "a" })).s, "ö");
  await post.echo({}, { headers: { authorization: "Bearer own" } });
  await post.echo({});
  const get = clientOf(url, { get: "/v1/{s=**}" });
  await get.echo({ s: "a/b c", rs: ["1", "2"] }, { headers: { other: "given" } });
  assert.deepEqual(seen, [
    'POST /under/v1/echo Bearer t1 application/json application/json intercepted {"s":"a"}',
    "POST /under/v1/echo Bearer own application/json application/json intercepted {}",
    "POST /under/v1/echo Bearer t2 application/json application/json intercepted {}",
    "GET /under/v1/a/b%20c?rs=1&rs=2 none application/json none given ",
  ]);
});

test("responses are read according to response_body, and raw bodies are returned unchanged", async () => {
  await using server = await serve((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.url === "/v1/raw") {
        response.setHeader("content-type", `${request.headers["content-type"]}; seen`);
        response.end(body);
      } else response.end(request.url === "/v1/item" ? '{"id": "7"}' : '["a", "b"]');
    });
  });
  const item = clientOf(server.url, { get: "/v1/item", responseBody: "item" });
  assert.equal((await item.echo({})).item?.id, "7");
  const list = clientOf(server.url, { get: "/v1/list", responseBody: "rs" });
  assert.deepEqual((await list.echo({})).rs, ["a", "b"]);
  const data = Uint8Array.of(0, 255, 10);
  const raw = await list.raw({ contentType: "audio/wav", data });
  assert.equal(raw.contentType, "audio/wav; seen");
  assert.deepEqual(raw.data, data);
});

test("an error without the service's body gets the code of its HTTP status, and an invalid response is Internal", async () => {
  const rows: [status: number, body: string, code: Code, message: RegExp][] = [
    [502, "<html>", Code.Unavailable, /HTTP 502 Bad Gateway/],
    [404, "", Code.Unimplemented, /HTTP 404/],
    [401, "[]", Code.Unauthenticated, /HTTP 401/],
    [418, '{"code": "teapot"}', Code.Unknown, /HTTP 418/],
    [500, '{"code": 99, "message": "odd"}', Code.Unknown, /odd/],
    [200, "<html>", Code.Internal, /not JSON/],
    [200, '{"s": 1}', Code.Internal, /not a vectors.v1.M/],
  ];
  let row = rows[0];
  await using server = await serve((_, response) => {
    response.writeHead(row?.[0] ?? 0).end(row?.[1]);
  });
  const client = clientOf(server.url);
  for (row of rows) {
    const error = await connectFailure(client.echo({}));
    assert.equal(error.code, row[2], row[1]);
    assert.match(error.message, row[3]);
  }
});

test("error details are found by type, and details of unknown types are left out", async () => {
  const details = [
    { "@type": "type.googleapis.com/unknown.Type", a: 1 },
    "nonsense",
    {
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [{ field: "s", description: "no", newField: 1 }],
    },
  ];
  await using server = await serve((_, response) => {
    response.setHeader("x-request-id", "7").writeHead(400);
    response.end(JSON.stringify({ code: 3, message: "s: no", details, error: {} }));
  });
  const error = await connectFailure(clientOf(server.url).echo({}));
  assert.equal(error.code, Code.InvalidArgument);
  assert.equal(error.rawMessage, "s: no");
  assert.equal(error.metadata.get("x-request-id"), "7");
  assert.equal(error.details.length, 1);
  const [found] = error.findDetails(BadRequestSchema);
  assert.equal(found?.fieldViolations[0]?.field, "s");
});

test("a call that times out, is aborted or loses its connection fails with the reason, and its socket is freed", async () => {
  let gone = 0;
  await using server = await serve((request, response) => {
    response.on("close", () => {
      gone += 1;
    });
    if (request.url === "/v1/half") {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"s"', () => {
        response.destroy();
      });
    }
  });
  const client = clientOf(server.url);
  assert.equal(
    (await connectFailure(client.echo({}, { timeoutMs: 1_000 }))).code,
    Code.DeadlineExceeded,
  );
  const aborting = new AbortController();
  const call = connectFailure(client.echo({}, { signal: aborting.signal }));
  setImmediate(() => {
    aborting.abort();
  });
  assert.equal((await call).code, Code.Canceled);
  assert.equal(
    (await connectFailure(client.echo({}, { signal: AbortSignal.abort() }))).code,
    Code.Canceled,
  );
  const half = clientOf(server.url, { get: "/v1/half" });
  assert.equal((await connectFailure(half.echo({}))).code, Code.Unavailable);
  await until(async () => await Promise.resolve(gone >= 2));
  const { url } = server;
  await server[Symbol.asyncDispose]();
  const away = await connectFailure(clientOf(url).echo({}));
  assert.equal(away.code, Code.Unavailable);
  assert.ok(away.cause instanceof TypeError);
});

test("a stream of responses is read line by line, up to its error or its end", async () => {
  const text = '{"result": {"s": "á\\n1"}}\n\n{"result":{"s":"第"}}\r\n';
  let end = "";
  let asked = "";
  await using server = await serve((request, response) => {
    asked = `${request.method} ${request.url} ${request.headers.accept}`;
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    if (end === "destroy") response.write(text, () => response.destroy());
    else response.end(text + end);
  });
  const read = async () => {
    const found: string[] = [];
    for await (const message of await lines(server.url)) {
      assert.ok(isMessage(message, MSchema));
      found.push(message.s);
    }
    return found;
  };
  assert.deepEqual(await read(), ["á\n1", "第"]);
  assert.equal(asked, "GET /v1/lines?s=ask application/x-ndjson");
  end = '{"result":{"s":"last"}}';
  assert.deepEqual(await read(), ["á\n1", "第", "last"]);
  const rows: [end: string, code: Code][] = [
    ['{"error":{"code":5,"message":"gone","details":[]}}\n', Code.NotFound],
    ['{"other":1}\n', Code.Internal],
    ["{", Code.Internal],
    ["destroy", Code.Unavailable],
  ];
  for (const [last, code] of rows) {
    end = last;
    assert.equal((await connectFailure(read())).code, code, last);
  }
});

test("a stream of responses ends when it is aborted or times out", async () => {
  let gone = 0;
  await using server = await serve((_, response) => {
    response.on("close", () => {
      gone += 1;
    });
    response.write('{"result":{"s":"a"}}\n');
  });
  const aborting = new AbortController();
  const rows = [
    [{ signal: aborting.signal }, Code.Canceled],
    [{ timeoutMs: 2_000 }, Code.DeadlineExceeded],
  ] as const;
  for (const [options, code] of rows) {
    const messages = (await lines(server.url, options))[Symbol.asyncIterator]();
    assert.equal((await messages.next()).done, false);
    const next = connectFailure(messages.next());
    aborting.abort();
    assert.equal((await next).code, code);
  }
  await until(async () => await Promise.resolve(gone === 2));
});

test("a method without a rule for its kind fails with Unimplemented", async () => {
  const url = "http://127.0.0.1:9";
  const transport = createRestTransport({ url });
  const echo: DescMethodUnary<typeof MSchema, typeof MSchema> = Vectors.method.echo;
  const call = transport.unary(echo, undefined, undefined, undefined, {});
  assert.equal((await connectFailure(call)).code, Code.Unimplemented);
  async function* none() {}
  const { up } = streamingMethods();
  const rules = [{ selector: `${Vectors.typeName}.Raw`, put: "/v1/raw", body: "*" }];
  const streaming = createRestTransport({ url, rules });
  const stream = streaming.stream(up, undefined, undefined, undefined, none());
  assert.equal((await connectFailure(stream)).code, Code.Unimplemented);
});
