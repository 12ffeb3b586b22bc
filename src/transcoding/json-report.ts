import type { Registry } from "@bufbuild/protobuf";
import type { FieldViolation } from "../std/service-error.ts";

/** More violations are of no use; reading of an invalid body stops here. */
const violationsMax = 100;

/** The violations of a JSON value, with paths of JSON names from that value down. */
export class JsonReport {
  readonly #violations: FieldViolation[] = [];
  /** Knows the types that a google.protobuf.Any may hold. */
  readonly registry: Registry | undefined;

  /** Whether unknown fields are ignored. */
  readonly ignoresUnknown: boolean;

  constructor(registry: Registry | undefined, { ignoresUnknown = false } = {}) {
    this.registry = registry;
    this.ignoresUnknown = ignoresUnknown;
  }

  get violations(): readonly FieldViolation[] {
    return this.#violations;
  }

  get isFull(): boolean {
    return this.#violations.length >= violationsMax;
  }

  /** A violation of the value at hand, or of the part of it that `field` names. */
  add(description: string, field = ""): void {
    if (!this.isFull) this.#violations.push({ field: clipped(field), description });
  }

  /**
   * Prepends `part`, a name or [an index], to the paths of the violations from number `from` on.
   */
  prefix(from: number, part: string): void {
    for (let index = from; index < this.#violations.length; index++) {
      const { field = "", description = "" } = this.#violations[index] ?? {};
      const joint = field === "" || field.startsWith("[") ? "" : ".";
      this.#violations[index] = { field: `${part}${joint}${field}`, description };
    }
  }
}

/** Names come from the client and may have any length. */
function clipped(name: string): string {
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}
