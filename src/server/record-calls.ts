import type { DescMethod } from "@bufbuild/protobuf";
import type { CallRecorder, HttpRecorder, HttpRoute, RecordedCall } from "../metrics/recorders.ts";
import type { ServiceError } from "../std/service-error.ts";
import type { HttpDoor } from "./http.ts";

const names = new WeakMap<DescMethod, string>();

/** Returns the name of a method in the metrics: <service>/<method>. */
export function recordedName(method: DescMethod): string {
  const known = names.get(method);
  if (known !== undefined) return known;
  const name = `${method.parent.typeName}/${method.name}`;
  names.set(method, name);
  return name;
}

/** Notes how a call failed, and returns the error. */
export function noted(recorded: RecordedCall, error: ServiceError): ServiceError {
  recorded.failed(error);
  return error;
}

/** Returns a door whose requests are recorded, or nothing without a door. */
export function recordedDoor(
  door: HttpDoor | undefined,
  route: HttpRoute,
  recorder: HttpRecorder,
): readonly HttpDoor[] {
  if (!door) return [];
  const recorded: HttpDoor = {
    ...door,
    handles: (request) => door.handles(request),
    handle(request, response) {
      const startMs = performance.now();
      response.once("close", () => {
        const seconds = (performance.now() - startMs) / 1000;
        const { method = "GET" } = request;
        recorder.answered({ method, route }, { status: response.statusCode, seconds });
      });
      return door.handle(request, response);
    },
  };
  return [recorded];
}

const unrecordedCall: RecordedCall = { called() {}, failed() {}, end() {} };

/** The recorder of a service without metrics. */
export const unrecorded: CallRecorder & HttpRecorder = {
  begin: () => unrecordedCall,
  answered() {},
  turnedAway() {},
};
