import { create, toBinary, type DescFile, type DescService } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  ErrorResponseSchema,
  ExtensionNumberResponseSchema,
  FileDescriptorResponseSchema,
  ListServiceResponseSchema,
  ServerReflection,
  ServerReflectionResponseSchema,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1Alpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { implemented, type ImplementedService } from "./methods.ts";
import { untilAborted } from "../std/until-aborted.ts";

/**
 * The time after which a stream that has sent no request is ended, to make room for others. These
 * streams need no token.
 */
const idleMsMaxDefault = 60_000;

/**
 * Creates grpc.reflection.v1 and v1alpha, which describe the contract to clients. They describe
 * `services`, themselves, and `files` with messages that no method names, such as error details.
 */
export function createGrpcReflection(
  services: readonly DescService[],
  files: readonly DescFile[] = [],
  { idleMsMax = idleMsMaxDefault }: { readonly idleMsMax?: number } = {},
): ImplementedService[] {
  const own = [ServerReflection, ServerReflectionV1Alpha] as const;
  const contract = contractOf([...services, ...own], files);
  async function* serverReflectionInfo(
    requests: AsyncIterable<ServerReflectionRequest>,
  ): AsyncGenerator<ServerReflectionResponse, void, undefined> {
    const sent = new Set<DescFile>();
    const idle = new AbortController();
    const timer = setTimeout(() => {
      const problem = `no request for ${idleMsMax / 1000} s`;
      idle.abort(new ServiceError("out_of_range", problem));
    }, idleMsMax);
    try {
      for await (const request of untilAborted(requests, idle.signal)) {
        timer.refresh();
        yield create(ServerReflectionResponseSchema, {
          validHost: request.host,
          originalRequest: request,
          messageResponse: answer(request.messageRequest, contract, sent),
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }
  return own.map((service) => implemented(service, { serverReflectionInfo }));
}

interface Contract {
  /** The full names of the services, sorted. */
  readonly services: readonly string[];
  readonly files: ReadonlyMap<string, DescFile>;
  /** The file that declares each full name. */
  readonly symbols: ReadonlyMap<string, DescFile>;
  /** The file of each extension, by the full name of the extended message and the field number. */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

function contractOf(services: readonly DescService[], others: readonly DescFile[]): Contract {
  const files = withImports([...services.map(({ file }) => file), ...others]);
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();
  for (const file of files) {
    for (const symbol of symbolsOf(file)) symbols.set(symbol, file);
    for (const type of nestedTypes(file)) {
      if (type.kind !== "extension") continue;
      const { typeName } = type.extendee;
      extensions.set(typeName, (extensions.get(typeName) ?? new Map()).set(type.number, file));
    }
  }
  return {
    services: services.map(({ typeName }) => typeName).toSorted(),
    files: new Map(files.map((file) => [file.proto.name, file])),
    symbols,
    extensions,
  };
}

/**
 * Yields every name that a file declares. Enum values are siblings of their enum, not members of
 * it.
 */
function* symbolsOf(file: DescFile): Generator<string, void, undefined> {
  for (const type of nestedTypes(file)) {
    const { typeName } = type;
    yield typeName;
    const members =
      type.kind === "message"
        ? [...type.fields, ...type.oneofs]
        : type.kind === "service"
          ? type.methods
          : [];
    for (const { name } of members) yield `${typeName}.${name}`;
    if (type.kind !== "enum") continue;
    const scope = typeName.slice(0, typeName.lastIndexOf(".") + 1);
    for (const { name } of type.values) yield `${scope}${name}`;
  }
}

/** Returns the files and everything that they import, each once, with the given files first. */
function withImports(files: readonly DescFile[]): DescFile[] {
  const all = new Set(files);
  // Items that are added during the walk are visited as well.
  for (const file of all) for (const imported of file.dependencies) all.add(imported);
  return [...all];
}

type Question = ServerReflectionRequest["messageRequest"];
type Answer = ServerReflectionResponse["messageResponse"];

function answer(question: Question, contract: Contract, sent: Set<DescFile>): Answer {
  const { value } = question;
  switch (question.case) {
    case "fileByFilename":
      return filesFrom(contract.files.get(question.value), "file", value, sent);
    case "fileContainingSymbol":
      return filesFrom(contract.symbols.get(question.value), "symbol", value, sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const file = contract.extensions.get(containingType)?.get(extensionNumber);
      return filesFrom(file, "extension", `${containingType} ${extensionNumber}`, sent);
    }
    case "allExtensionNumbersOfType":
      return extensionNumbers(contract, question.value);
    case "listServices": {
      const service = contract.services.map((name) => ({ name }));
      const value = create(ListServiceResponseSchema, { service });
      return { case: "listServicesResponse", value };
    }
    case undefined:
      break;
  }
  return failure(Code.InvalidArgument, "the request has no message_request");
}

/** Returns the requested file, and those of its imports that this stream has not received yet. */
function filesFrom(
  file: DescFile | undefined,
  kind: string,
  name: unknown,
  sent: Set<DescFile>,
): Answer {
  if (!file) return failure(Code.NotFound, `${kind} ${shown(name)} is not part of the contract`);
  const files = withImports([file]).filter((each) => each === file || !sent.has(each));
  for (const each of files) sent.add(each);
  const value = create(FileDescriptorResponseSchema, {
    fileDescriptorProto: files.map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto)),
  });
  return { case: "fileDescriptorResponse", value };
}

function extensionNumbers({ symbols, extensions }: Contract, typeName: string): Answer {
  const numbers = extensions.get(typeName)?.keys();
  const file = symbols.get(typeName);
  const isMessage = file && nestedMessages(file).has(typeName);
  if (!numbers && !isMessage) {
    return failure(Code.NotFound, `message ${shown(typeName)} is not part of the contract`);
  }
  const value = create(ExtensionNumberResponseSchema, {
    baseTypeName: typeName,
    extensionNumber: [...(numbers ?? [])].toSorted((a, b) => a - b),
  });
  return { case: "allExtensionNumbersResponse", value };
}

function nestedMessages(file: DescFile): ReadonlySet<string> {
  const types = Array.from(nestedTypes(file));
  return new Set(types.flatMap(({ kind, typeName }) => (kind === "message" ? [typeName] : [])));
}

function failure(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: create(ErrorResponseSchema, { errorCode, errorMessage }) };
}
