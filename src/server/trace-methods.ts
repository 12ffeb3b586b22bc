import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { currentSpan, reasonOf, startSpan, traced } from "../tracing/tracing.ts";
import type { ImplementedService } from "./methods.ts";

type Method = (request: never, context: HandlerContext) => unknown;

/**
 * Returns services whose calls are spans. A stream has only short spans, one when it opens and one
 * when it ends, since a span is not sent before its end.
 */
export function traceMethods(services: readonly ImplementedService[]): ImplementedService[] {
  return services.map(({ service, implementation }) => {
    const methods = service.methods.flatMap((method) => {
      const run: unknown = implementation[method.localName];
      return isMethod(run) ? [[method.localName, tracedMethod(method, run)]] : [];
    });
    return { service, implementation: { ...implementation, ...Object.fromEntries(methods) } };
  });
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function";
}

function tracedMethod(method: DescMethod, run: Method): Method {
  const name = `${method.parent.typeName}/${method.name}`;
  if (method.methodKind === "unary" || method.methodKind === "client_streaming") {
    return async (request, context) =>
      await traced(name, { attributes: attributesOf(name, context) }, async () =>
        run(request, context),
      );
  }
  return async function* (request, context) {
    const endpoint = currentSpan();
    const attributes = attributesOf(name, context);
    startSpan(`${name} opened`, { attributes })?.end();
    endpoint?.end();
    const openedAt = performance.now();
    let reason: string | undefined;
    try {
      const messages = run(request, context);
      if (!isMessages(messages)) throw new Error(`${name} does not stream`);
      yield* messages;
    } catch (error) {
      reason = reasonOf(error);
      throw error;
    } finally {
      const durationMs = Math.round(performance.now() - openedAt);
      const ended = startSpan(`${name} ended`, {
        parent: endpoint?.traceparent,
        attributes: { ...attributes, "hlust.stream.duration_ms": durationMs },
      });
      if (reason !== undefined) ended?.fail(reason);
      ended?.end();
    }
  };
}

function isMessages(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function attributesOf(name: string, { protocolName }: Pick<HandlerContext, "protocolName">) {
  return { "rpc.method": name, "rpc.system.name": protocolName };
}
