import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import type { RecordedCall } from "../metrics/recorders.ts";
import { errorCodes, rpcCodes, type ErrorCode } from "../std/error-codes.ts";
import type { HttpResponse } from "./http.ts";
import { rpcRequestKey } from "./rpc-request.ts";

/** Notes the failures of gRPC, gRPC-Web and Connect calls, as clients see them. */
export const recordFailures: Interceptor = (next) => async (request) => {
  const recorded = request.contextValues.get(rpcRequestKey)?.recorded;
  const note = (error: unknown): void => {
    const answer = ConnectError.from(error);
    const [info] = answer.findDetails(ErrorInfoSchema);
    recorded?.failed({ code: codeNames.get(answer.code) ?? "unknown", reason: info?.reason ?? "" });
  };
  async function* guard<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
    try {
      yield* messages;
    } catch (error) {
      note(error);
      throw error;
    }
  }
  try {
    const response = await next(request);
    return response.stream ? { ...response, message: guard(response.message) } : response;
  } catch (error) {
    note(error);
    throw error;
  }
};

/** Notes a status of gRPC that is not 0, for failures before a method is called. */
export function noteStatus(recorded: RecordedCall, status: number): void {
  if (status === 0) return;
  recorded.failed({ code: codeNames.get(status) ?? "unknown", reason: "" });
}

/** The codes of HTTP statuses in Connect, for failures before a method is called. */
const codesOfStatuses: ReadonlyMap<number, ErrorCode> = new Map([
  [400, "invalid_argument"],
  [401, "unauthenticated"],
  [403, "permission_denied"],
  [404, "unimplemented"],
  [408, "deadline_exceeded"],
  [413, "resource_exhausted"],
  [415, "unimplemented"],
  [429, "resource_exhausted"],
  [499, "cancelled"],
  [503, "unavailable"],
  [504, "deadline_exceeded"],
]);

const codeNames = new Map<number, ErrorCode>(errorCodes.map((name) => [rpcCodes[name], name]));

/** Ends a call of gRPC, gRPC-Web or Connect whose response is closed. */
export function endRpc(recorded: RecordedCall, response: HttpResponse): void {
  const { statusCode } = response;
  if (!response.writableEnded) recorded.failed({ code: "cancelled", reason: "" });
  else if (statusCode >= 400) {
    recorded.failed({ code: codesOfStatuses.get(statusCode) ?? "unknown", reason: "" });
  }
  recorded.end();
}
