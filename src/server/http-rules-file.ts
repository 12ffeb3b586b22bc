import { isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";
import type { DescService } from "@bufbuild/protobuf";
import type { Log } from "../std/log.ts";
import {
  type Binding,
  resolveRules,
  type RuleNotice,
  type RuleSpot,
} from "../transcoding/http-rules.ts";
import {
  readServiceConfig,
  type ServiceConfig,
  serviceConfigLengthMax,
  ServiceConfigError,
} from "../transcoding/service-config.ts";

/**
 * Reads the rules that replace the contract's rules (§4.10 item 9), in YAML or JSON. Checks that
 * the services have the methods that the rules name, and that the doors can serve them. Throws
 * ServiceConfigError with every problem and its location.
 */
export async function readHttpRulesFile(
  path: string,
  services: readonly DescService[],
): Promise<ServiceConfig> {
  const config = readServiceConfig(await textOf(path), { file: path, services });
  const problems = resolveRules(services, config.rules).bindings.flatMap((binding) => {
    if (binding.spot.rule === undefined) return [];
    const place = config.placeOf(binding.spot);
    return [kindProblem(binding), pathProblem(binding)].flatMap((problem) =>
      problem === undefined ? [] : [`${place}: ${problem}`],
    );
  });
  if (problems.length > 0) throw new ServiceConfigError(problems);
  return config;
}

function kindProblem({ httpMethod, method }: Binding): string | undefined {
  const isStream = method.methodKind === "bidi_streaming";
  if (httpMethod === "*" || isStream === (httpMethod === "WEBSOCKET")) return undefined;
  const expected = isStream ? "expected custom with kind WEBSOCKET" : "expected another kind";
  const kind = isStream ? "a stream of messages both ways" : "no such stream";
  return `${expected}, found ${httpMethod}: ${method.name} is ${kind}`;
}

/** The service itself handles paths that begin with these, before any rule. */
const ownPaths: ReadonlySet<string> = new Set([
  "console",
  "docs",
  "healthz",
  "media",
  "openapi.json",
  "readyz",
  "startupz",
]);

function pathProblem({ path, template }: Binding): string | undefined {
  const [first] = path.segments;
  if (first?.kind !== "literal" || !ownPaths.has(first.text)) return undefined;
  return `expected another path, found ${template}: the service answers paths below /${first.text} itself`;
}

async function textOf(path: string): Promise<string> {
  // A character takes at most four bytes. One byte more shows that a file is too long.
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

/** Logs rules that are served but look like mistakes. */
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
