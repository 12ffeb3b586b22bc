import { join } from "node:path";
import { credentials, loadPackageDefinition, Metadata, type Client } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/** A message as a client of the original sees it: names in snake_case, enums by their names. */
// oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
export type Message = any;

/** A client that is generated from a proto of the original contract. */
export interface OriginalClient extends Disposable {
  /** The methods of the service, in the order of the proto. */
  readonly methods: readonly string[];
  call(method: string, request: object): Promise<Message>;
  /** Opens a client stream. */
  send(method: string): OpenStream;
  /** The messages of a server stream, or of a bidirectional one with these requests. */
  stream(
    method: string,
    request: object | readonly object[],
  ): AsyncIterable<Message> & {
    cancel(): void;
  };
}

/** An open client stream: `write`, `end` and `cancel` of grpc-js, and its answer. */
export interface OpenStream {
  readonly call: Message;
  readonly answer: Promise<Message>;
}

type Method = (...args: unknown[]) => Message;

/**
 * Opens a client of a service, with the key in the authorization header. `service` is its full
 * name, `file` the proto that has it, relative to this folder.
 */
export function openOriginalClient(
  file: string,
  service: string,
  { address, key }: { readonly address: string; readonly key: string },
): OriginalClient {
  const definition = loadSync(file, {
    includeDirs: [import.meta.dirname, join(import.meta.dirname, "../../third_party/googleapis")],
    keepCase: true,
    enums: String,
    longs: Number,
    defaults: true,
    oneofs: true,
  });
  const loaded: Message = loadPackageDefinition(definition);
  const Constructor: Message = service
    .split(".")
    .reduce((scope: Message, name) => scope[name], loaded);
  const client: Client & Record<string, Method> = new Constructor(
    new URL(address).host,
    credentials.createInsecure(),
  );
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${key}`);
  const methodOf = (name: string): Method => {
    const method = client[name];
    if (!method) throw new Error(`${service} has no method ${name}`);
    return method.bind(client);
  };
  const described: Message = Constructor.service;
  return {
    methods: Object.keys(described),
    call: (name, request) =>
      new Promise((resolve, reject) => {
        methodOf(name)(request, metadata, (error: Error | null, answer: Message) => {
          if (error) reject(error);
          else resolve(answer);
        });
      }),
    stream(name, request) {
      if (!Array.isArray(request)) return methodOf(name)(request, metadata);
      const call = methodOf(name)(metadata);
      for (const message of request) call.write(message);
      call.end();
      return call;
    },
    send(name) {
      const { promise: answer, resolve, reject } = Promise.withResolvers<Message>();
      answer.catch(() => {});
      const call = methodOf(name)(metadata, (error: Error | null, message: Message) => {
        if (error) reject(error);
        else resolve(message);
      });
      return { call, answer };
    },
    [Symbol.dispose]: () => client.close(),
  };
}
