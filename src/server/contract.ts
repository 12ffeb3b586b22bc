import type { DescService, Registry } from "@bufbuild/protobuf";
import type { Log } from "../std/log.ts";
import type { ServiceConfig } from "../transcoding/service-config.ts";
import { createTranscoder, type Transcoder } from "../transcoding/transcoder.ts";
import { answerTypes } from "./answer-types.ts";
import { logRuleNotices } from "./http-rules-file.ts";
import { methodsOf, type ImplementedService, type Methods } from "./methods.ts";

/** The API that the doors serve, with its implementation. */
export interface Contract {
  readonly services: readonly DescService[];
  /** The types that an Any in a response can have: see answerTypes(). */
  readonly registry: Registry;
  readonly transcoder: Transcoder;
  readonly methods: Methods;
}

/**
 * Creates the contract. `httpRules` replace its default rules; rules that look like mistakes are
 * logged.
 */
export function createContract(
  services: readonly ImplementedService[],
  httpRules: ServiceConfig | undefined,
  log: Log,
): Contract {
  const described = services.map(({ service }) => service);
  const registry = answerTypes(described);
  const transcoder = createTranscoder(described, { registry, ...httpRules });
  logRuleNotices(transcoder.notices, httpRules, log);
  return { services: described, registry, transcoder, methods: methodsOf(services) };
}
