import { setTimeout as pause } from "node:timers/promises";
import { create, type DescService } from "@bufbuild/protobuf";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
  HealthCheckResponseSchema,
} from "../gen/grpc/health/v1/health_pb.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { reportMsMax, type ReadinessReport } from "./health.ts";
import { implemented, type ImplementedService } from "./methods.ts";

/**
 * grpc.health.v1.Health from the checks behind /readyz, for "" and each of the services. Who watches is told of a change within two
 * seconds, and that the service stops as soon as `draining` aborts.
 */
export function createGrpcHealth(parts: {
  readonly services: readonly DescService[];
  readonly readiness: () => Promise<ReadinessReport>;
  readonly draining: AbortSignal;
}): ImplementedService {
  const { readiness, draining } = parts;
  const names = ["", ...parts.services.map(({ typeName }) => typeName)];

  const statusNow = async (): Promise<Status> => {
    const isServing = !draining.aborted && (await readiness()).isReady;
    return isServing ? Status.SERVING : Status.NOT_SERVING;
  };

  async function* watch(service: string, gone: AbortSignal) {
    const isKnown = names.includes(service);
    const wake = AbortSignal.any([gone, draining]);
    let told: Status | undefined;
    while (!gone.aborted) {
      const status = isKnown ? await statusNow() : Status.SERVICE_UNKNOWN;
      if (status !== told) yield create(HealthCheckResponseSchema, { status });
      told = status;
      if (draining.aborted) throw new ServiceError("unavailable", "the service is stopping");
      await pause(reportMsMax, undefined, { signal: wake }).catch(() => {});
    }
  }

  return implemented(Health, {
    async check({ service }) {
      if (names.includes(service)) return { status: await statusNow() };
      throw new ServiceError("not_found", `service: ${shown(service)} is not served here`);
    },
    async list() {
      const status = await statusNow();
      return { statuses: Object.fromEntries(names.map((name) => [name, { status }])) };
    },
    watch: ({ service }, { signal }) => watch(service, signal),
  });
}
