// gRPC server reflection, from which a client without the contract learns how to call the service,
// and the methods that need no token.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  createFileRegistry,
  fromBinary,
  getOption,
  toBinary,
  type DescMessage,
  type Registry,
} from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import { Code, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import {
  Client as GrpcClient,
  credentials,
  loadPackageDefinition,
  Metadata,
  type GrpcObject,
  type ServiceError as GrpcError,
} from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { http } from "../../src/gen/google/api/annotations_pb.ts";
import {
  ExtensionRequestSchema,
  ServerReflection,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { access, file_hlust_api_annotations } from "../../src/gen/hlust/api/annotations_pb.ts";
import { speak } from "../fixtures/flite.ts";
import { openTestService, pcmOf, type TestService } from "./service.ts";

const versions = ["grpc.reflection.v1", "grpc.reflection.v1alpha"];
const open = ["grpc.health.v1.Health", ...versions.map((version) => `${version}.ServerReflection`)];
const contract = [
  "google.bytestream.ByteStream",
  "google.cloud.speech.v1.Speech",
  "google.cloud.speech.v1p1beta1.Speech",
  "google.longrunning.Operations",
  "hlust.accounts.v1.Accounts",
  "hlust.operator.v1.Operator",
  "hlust.speech.v2beta1.Speech",
  "hlust.speech.v2beta1.Vocabulary",
  "hlust.transcripts.v1alpha1.Transcripts",
  "hlust.webhooks.v1.Webhooks",
  "lr.speech.v2beta1.Speech",
  "lr.transcript.v1alpha1.TranscriptService",
  "tiro.speech.v1alpha.Speech",
];
let service: TestService;
let client: GrpcClient;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  client = new GrpcClient(new URL(service.address).host, credentials.createInsecure());
});
after(async () => {
  client.close();
  await service[Symbol.asyncDispose]();
});

type Question = ServerReflectionRequest["messageRequest"];
type Answer = ServerReflectionResponse["messageResponse"];
const same = (bytes: Buffer) => bytes;

/**
 * Sends requests on one stream of grpc-js, without a token, and returns the responses in order.
 */
async function ask(questions: readonly Question[], version = versions[0]): Promise<Answer[]> {
  const path = `/${version}.ServerReflection/ServerReflectionInfo`;
  const stream = client.makeBidiStreamRequest(path, same, same);
  for (const messageRequest of questions) {
    const request = create(ServerReflectionRequestSchema, { host: "here", messageRequest });
    stream.write(Buffer.from(toBinary(ServerReflectionRequestSchema, request)));
  }
  stream.end();
  const answers = await Array.fromAsync<Buffer>(stream);
  return answers.map((bytes, at) => {
    const answer = fromBinary(ServerReflectionResponseSchema, bytes);
    assert.equal(answer.validHost, "here");
    assert.deepEqual(answer.originalRequest?.messageRequest, questions[at]);
    return answer.messageResponse;
  });
}

async function askOne(question: Question): Promise<Answer> {
  const [answer] = await ask([question]);
  assert.ok(answer);
  return answer;
}

const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });
const extension = (containingType: string, extensionNumber: number): Question => ({
  case: "fileContainingExtension",
  value: create(ExtensionRequestSchema, { containingType, extensionNumber }),
});

function filesOf(answer: Answer | undefined): FileDescriptorProto[] {
  assert.equal(answer?.case, "fileDescriptorResponse", JSON.stringify(answer?.value));
  return answer.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

async function servicesOf(version?: string): Promise<string[]> {
  const [answer] = await ask([{ case: "listServices", value: "" }], version);
  assert.equal(answer?.case, "listServicesResponse");
  return answer.value.service.map(({ name }) => name);
}

/** Orders files after the files that they import, as some readers of descriptors require. */
function ordered(files: ReadonlyMap<string, FileDescriptorProto>): FileDescriptorProto[] {
  const done = new Set<FileDescriptorProto>();
  const add = (name: string) => {
    const file = files.get(name);
    assert.ok(file, `${name} is not listed`);
    if (done.has(file)) return;
    file.dependency.forEach(add);
    done.add(file);
  };
  for (const name of files.keys()) add(name);
  return [...done];
}

/** Reads the contract from the service by reflection. */
async function learn(): Promise<{ files: FileDescriptorProto[]; registry: Registry }> {
  const answers = await ask((await servicesOf()).map(symbol));
  const files = new Map(answers.flatMap(filesOf).map((file) => [file.name, file]));
  const set = create(FileDescriptorSetSchema, { file: ordered(files) });
  return { files: set.file, registry: createFileRegistry(set) };
}

test("both versions list every service", async () => {
  for (const version of versions) {
    assert.deepEqual(await servicesOf(version), [...contract, ...open].toSorted());
  }
});

test("the bytes equal those of gRPC's own reflection", async () => {
  const path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  const stream = client.makeBidiStreamRequest(path, same, same);
  const questions = ["3a012a", "220178", "2a050a01781005", "320178", "1a0178"];
  for (const question of questions) stream.write(Buffer.from(question, "hex"));
  stream.end();
  const answers = await Array.fromAsync<Buffer>(stream);
  const [list = "", ...rest] = answers.map((bytes) => bytes.toString("hex"));
  // Field numbers: original_request 2, list_services_response 6, service 1, name 1.
  const name = `0a${lengthOf(contract[0])}${Buffer.from(contract[0] ?? "").toString("hex")}`;
  assert.match(list, new RegExp(`^12033a012a32....0a..${name}0a`));
  for (const [at, answer] of rest.entries()) {
    // Field numbers: error_response 7, with error_code 1 (5 is NOT_FOUND) and error_message 2.
    const question = questions[at + 1] ?? "";
    assert.match(answer, new RegExp(`^12${hex(question.length / 2)}${question}3a..080512`));
  }
});

const hex = (number: number) => number.toString(16).padStart(2, "0");
const lengthOf = (text = "") => hex(text.length);

test("a client that is built only from reflection recognizes speech", async () => {
  const { files } = await learn();
  const set = create(FileDescriptorSetSchema, { file: files });
  const bytes = Buffer.from(toBinary(FileDescriptorSetSchema, set));
  const loaded = loadPackageDefinition(
    loadFileDescriptorSetFromBuffer(bytes, { enums: String, longs: Number, defaults: true }),
  );
  const audio = pcmOf(speak("the weather is cold and dark today"));
  // Fields have their proto names, the only ones that the client uses.
  const config = { encoding: "LINEAR16", sample_rate_hertz: 16_000, language_code: "en-US" };
  const body = { config, audio: { content: audio.toString("base64") } };
  const { json } = await service.call("POST", "/v2beta1/speech:recognize", body);
  for (const name of ["hlust.speech.v2beta1.Speech", "google.cloud.speech.v1.Speech"]) {
    const answer = await callLearnt(loaded, name, "recognize", {
      config,
      audio: { content: audio },
    });
    assert.equal(
      answer.results[0].alternatives[0].transcript,
      json.results[0].alternatives[0].transcript,
      name,
    );
  }
  const health = await callLearnt(loaded, "grpc.health.v1.Health", "check", {});
  assert.equal(health.status, "SERVING");
});

/** Calls a method by its name, with the key, using the client class that proto-loader created. */
async function callLearnt(
  loaded: GrpcObject,
  serviceName: string,
  method: string,
  request: object,
  // oxlint-disable-next-line typescript/no-explicit-any -- what the test looks into, and asserts
): Promise<any> {
  // oxlint-disable-next-line typescript/no-explicit-any -- known at run time only
  const Class: any = serviceName.split(".").reduce((at: any, part) => at[part], loaded);
  const learnt = new Class(new URL(service.address).host, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${service.key}`);
  try {
    return await new Promise((resolve, reject) => {
      learnt[method](request, metadata, (error: GrpcError | null, answer: unknown) => {
        if (error) reject(error);
        else resolve(answer);
      });
    });
  } finally {
    learnt.close();
  }
}

test("a file is sent with all its imports, once on each stream", async () => {
  const [first, again, other] = await ask([
    symbol("hlust.speech.v2beta1.Speech"),
    symbol("hlust.speech.v2beta1.WordInfo"),
    symbol("tiro.speech.v1alpha.Speech"),
  ]);
  const files = filesOf(first);
  const names = new Set(files.map(({ name }) => name));
  assert.equal(names.size, files.length);
  assert.equal(files[0]?.name, "hlust/speech/v2beta1/speech.proto");
  for (const { name, dependency } of files) {
    for (const imported of dependency) assert.ok(names.has(imported), `${name}: ${imported}`);
  }
  assert.deepEqual(
    filesOf(again).map(({ name }) => name),
    ["hlust/speech/v2beta1/speech.proto"],
  );
  assert.deepEqual(
    filesOf(other).map(({ name }) => name),
    ["tiro/speech/v1alpha/speech.proto"],
  );
});

test("every name leads to the file that declares it", async () => {
  const speech = "hlust/speech/v2beta1/speech.proto";
  const v2beta1 = (name: string) => symbol(`hlust.speech.v2beta1.${name}`);
  const options = "google.protobuf.MethodOptions";
  const rows: [Question, string][] = [
    [v2beta1("Speech"), speech],
    [v2beta1("Speech.Recognize"), speech],
    [v2beta1("RecognitionConfig"), speech],
    [v2beta1("RecognitionConfig.language_code"), speech],
    [v2beta1("RecognitionConfig.AudioEncoding"), speech],
    [v2beta1("RecognitionConfig.LINEAR16"), speech],
    [v2beta1("StreamingRecognitionConfig.Endpointing"), speech],
    [v2beta1("StreamingRecognitionConfig.Endpointing.min_silence"), speech],
    [v2beta1("StreamingRecognizeRequest.streaming_request"), speech],
    [symbol("hlust.api.access"), "hlust/api/annotations.proto"],
    [symbol("google.rpc.BadRequest.FieldViolation"), "google/rpc/error_details.proto"],
    [symbol("google.protobuf.Duration"), "google/protobuf/duration.proto"],
    [symbol("grpc.health.v1.Health"), "grpc/health/v1/health.proto"],
    [
      symbol("grpc.reflection.v1alpha.ServerReflection"),
      "grpc/reflection/v1alpha/reflection.proto",
    ],
    [{ case: "fileByFilename", value: "google/rpc/status.proto" }, "google/rpc/status.proto"],
    [extension(options, 50_100), "hlust/api/annotations.proto"],
    [extension(options, 72_295_728), "google/api/annotations.proto"],
  ];
  for (const [question, name] of rows) {
    const [file] = filesOf(await askOne(question));
    assert.equal(file?.name, name, JSON.stringify(question.value));
  }
});

test("names outside the contract get NOT_FOUND, and the stream continues", async () => {
  const numbers = (value: string): Question => ({ case: "allExtensionNumbersOfType", value });
  const rows: [Question, number][] = [
    [symbol("hlust.speech.v2beta1.speech"), Code.NotFound],
    [symbol("hlust.speech.v2beta1"), Code.NotFound],
    [symbol(""), Code.NotFound],
    [symbol("__proto__"), Code.NotFound],
    [symbol("hlust.speech.v2beta1.RecognitionConfig.AudioEncoding.LINEAR16"), Code.NotFound],
    [{ case: "fileByFilename", value: "../speech.proto" }, Code.NotFound],
    [extension("google.protobuf.MethodOptions", 1), Code.NotFound],
    [extension("hlust.speech.v2beta1.WordInfo", 50_100), Code.NotFound],
    [numbers("hlust.speech.v2beta1.Nothing"), Code.NotFound],
    [numbers("hlust.speech.v2beta1.Speech"), Code.NotFound],
    [numbers("hlust.speech.v2beta1.WordInfo.word"), Code.NotFound],
    [{ case: undefined }, Code.InvalidArgument],
  ];
  const answers = await ask([...rows.map(([question]) => question), symbol("hlust.api.Access")]);
  for (const [at, [question, code]] of rows.entries()) {
    const answer = answers[at];
    assert.equal(answer?.case, "errorResponse", JSON.stringify(question.value));
    assert.equal(answer.value.errorCode, code);
    assert.notEqual(answer.value.errorMessage, "");
  }
  assert.equal(filesOf(answers.at(-1))[0]?.name, "hlust/api/annotations.proto");
});

test("the numbers of extensions are listed, sorted", async () => {
  const own = file_hlust_api_annotations.extensions
    .filter(({ extendee }) => extendee.typeName === "google.protobuf.MethodOptions")
    .map(({ number }) => number)
    .toSorted((a, b) => a - b);
  const rows: [string, number[]][] = [
    ["google.protobuf.MethodOptions", [...own, 72_295_728]],
    ["hlust.speech.v2beta1.WordInfo", []],
  ];
  for (const [value, numbers] of rows) {
    const answer = await askOne({ case: "allExtensionNumbersOfType", value });
    assert.equal(answer.case, "allExtensionNumbersResponse");
    assert.equal(answer.value.baseTypeName, value);
    assert.deepEqual(answer.value.extensionNumber, numbers);
  }
});

test("methods are returned with their HTTP rules and access options", async () => {
  const { registry } = await learn();
  const method = registry.getService("hlust.speech.v2beta1.Speech")?.method["recognize"];
  assert.ok(method);
  assert.equal(getOption(method, http).pattern.value, "/v2beta1/speech:recognize");
  assert.equal(getOption(method, access).scope, "speech");
});

test("gRPC, gRPC-Web and Connect return the same responses", async () => {
  const baseUrl = service.address;
  for (const transport of [
    createGrpcTransport({ baseUrl }),
    createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
    createConnectTransport({ baseUrl, httpVersion: "2" }),
  ]) {
    async function* questions() {
      yield { messageRequest: symbol("hlust.api.Access") };
    }
    const reflection = createClient(ServerReflection, transport);
    const [answer] = await Array.fromAsync(reflection.serverReflectionInfo(questions()));
    assert.equal(filesOf(answer?.messageResponse)[0]?.name, "hlust/api/annotations.proto");
  }
});

test("without a token only health and reflection are answered", async () => {
  const { registry } = await learn();
  const names = (await servicesOf()).filter((name) => !open.includes(name));
  assert.deepEqual(names, contract);
  let calls = 0;
  for (const name of names) {
    for (const method of registry.getService(name)?.methods ?? []) {
      assert.equal(await codeOf(`/${name}/${method.name}`, method.input), Code.Unauthenticated);
      calls += 1;
    }
  }
  assert.ok(calls > 15, `${calls} methods`);
  assert.equal(await codeOf("/hlust.speech.v2beta1.Speech/None"), Code.Unimplemented);
  assert.equal(await codeOf("/nothing.Of/Ours"), Code.Unimplemented);
});

/** Returns the status of a call with an empty message and without a token. */
function codeOf(path: string, input?: DescMessage): Promise<number> {
  const message = input ? Buffer.from(toBinary(input, create(input))) : Buffer.alloc(0);
  return new Promise((resolve) => {
    const stream = client.makeBidiStreamRequest(path, same, same);
    stream.on("data", () => {});
    stream.on("error", () => {});
    stream.on("status", ({ code }) => {
      resolve(code);
    });
    stream.write(message);
    stream.end();
  });
}
