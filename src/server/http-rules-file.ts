import { isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";
import type { DescService } from "@bufbuild/protobuf";
import type { Log } from "../std/log.ts";
import { resolveRules, type RuleNotice, type RuleSpot } from "../transcoding/http-rules.ts";
import {
  readServiceConfig,
  type ServiceConfig,
  serviceConfigLengthMax,
  ServiceConfigError,
} from "../transcoding/service-config.ts";

/**
 * Reads the rules that take the place of the contract's (§4.10 item 9), YAML or JSON, and checks them against the services and
 * what these doors can serve. Throws ServiceConfigError with every problem and its place.
 */
export async function readHttpRulesFile(
  path: string,
  services: readonly DescService[],
): Promise<ServiceConfig> {
  const config = readServiceConfig(await textOf(path), { file: path, services });
  const problems = resolveRules(services, config.rules).bindings.flatMap(
    ({ httpMethod, method, spot }) => {
      const isStream = method.methodKind === "bidi_streaming";
      if (spot.rule === undefined || httpMethod === "*") return [];
      if (isStream === (httpMethod === "WEBSOCKET")) return [];
      const expected = isStream ? "expected custom with kind WEBSOCKET" : "expected another kind";
      const kind = isStream ? "a stream of messages both ways" : "no such stream";
      return [
        `${config.placeOf(spot)}: ${expected}, found ${httpMethod}: ${method.name} is ${kind}`,
      ];
    },
  );
  if (problems.length > 0) throw new ServiceConfigError(problems);
  return config;
}

async function textOf(path: string): Promise<string> {
  // Four bytes hold any character; one more tells a file that is too long.
  const bytes = Buffer.alloc(4 * serviceConfigLengthMax + 1);
  let length = 0;
  try {
    await using file = await open(path);
    if (!(await file.stat()).isFile()) throw new Error("it is not a file");
    for (;;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ServiceConfigError([`${path}: cannot be read: ${problem}`]);
  }
  const text = bytes.subarray(0, length);
  if (!isUtf8(text))
    throw new ServiceConfigError([`${path}: expected UTF-8 text, found other bytes`]);
  return text.toString();
}

/** Says what is odd about rules that are served all the same. */
export function logRuleNotices(
  notices: readonly RuleNotice[],
  rules: ServiceConfig | undefined,
  log: Log,
): void {
  const placeOf = (spot: RuleSpot): string =>
    spot.rule === undefined || rules === undefined ? "the contract" : rules.placeOf(spot);
  for (const notice of notices) {
    if (notice.kind === "unused_selector") {
      const { selector, spot } = notice;
      log.warn({ selector, place: placeOf(spot) }, "http_rules.unused_selector");
      continue;
    }
    const { binding, by } = notice;
    log.warn(
      {
        method: binding.method.name,
        rule: `${binding.httpMethod} ${binding.template}`,
        place: placeOf(binding.spot),
        by: by.method.name,
        byPlace: placeOf(by.spot),
      },
      "http_rules.shadowed_binding",
    );
  }
}
