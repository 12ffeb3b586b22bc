import { setTimeout as pause } from "node:timers/promises";
import { create, type DescService } from "@bufbuild/protobuf";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
  HealthCheckResponseSchema,
} from "../gen/grpc/health/v1/health_pb.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { reportMsMax, type Readiness } from "./health.ts";
import { implemented, type ImplementedService } from "./methods.ts";

/**
 * Creates grpc.health.v1.Health from the checks behind /readyz. For "", all checks count; for a
 * service, those that its use needs. A watch reports a change within two seconds, and NOT_SERVING
 * as soon as `leaving` aborts. The watch ends when `draining` aborts.
 */
export function createGrpcHealth(parts: {
  readonly services: readonly DescService[];
  /** Returns the use of a service, or undefined if it needs every part. */
  readonly useOf: (service: DescService) => string | undefined;
  readonly readiness: Readiness;
  readonly leaving: AbortSignal;
  readonly draining: AbortSignal;
}): ImplementedService {
  const { readiness, leaving, draining } = parts;
  const uses = new Map<string, readonly string[] | undefined>([
    ["", undefined],
    ...parts.services.map((service) => {
      const use = parts.useOf(service);
      return [service.typeName, use === undefined ? undefined : [use]] as const;
    }),
  ]);

  const statusNow = async (service: string): Promise<Status> => {
    if (leaving.aborted || draining.aborted) return Status.NOT_SERVING;
    const { isReady } = await readiness.report(uses.get(service));
    return isReady && !leaving.aborted ? Status.SERVING : Status.NOT_SERVING;
  };

  async function* watch(service: string, gone: AbortSignal) {
    const isKnown = uses.has(service);
    const sooner = AbortSignal.any([gone, draining, leaving]);
    const later = AbortSignal.any([gone, draining]);
    let reported: Status | undefined;
    while (!gone.aborted) {
      // A signal that has already aborted would end the wait immediately.
      const signal = leaving.aborted ? later : sooner;
      const status = isKnown ? await statusNow(service) : Status.SERVICE_UNKNOWN;
      if (status !== reported) yield create(HealthCheckResponseSchema, { status });
      reported = status;
      if (draining.aborted) throw new ServiceError("unavailable", "the service is shutting down");
      await pause(reportMsMax, undefined, { signal }).catch(() => {});
    }
  }

  return implemented(Health, {
    async check({ service }) {
      if (uses.has(service)) return { status: await statusNow(service) };
      throw new ServiceError("not_found", `service: ${shown(service)} is not served here`);
    },
    async list() {
      const statuses = await Promise.all(
        Array.from(uses.keys(), async (name) => [name, { status: await statusNow(name) }] as const),
      );
      return { statuses: Object.fromEntries(statuses) };
    },
    watch: ({ service }, { signal }) => watch(service, signal),
  });
}
