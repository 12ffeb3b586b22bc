import type { Registry } from "@bufbuild/protobuf";
import type { FieldViolation } from "../std/service-error.ts";

/** More violations than this help no one; a body of garbage is not read any further. */
const violationsMax = 100;

/** What is wrong with a JSON value, with paths of JSON names from that value down. */
export class JsonReport {
  readonly #violations: FieldViolation[] = [];
  /** Knows the types that a google.protobuf.Any may hold. */
  readonly registry: Registry | undefined;

  /** Whether a field that a message has not is nothing wrong. */
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
   * Puts `part`, a name or [an index], before the paths of the violations from number `from` on.
   */
  prefix(from: number, part: string): void {
    for (let index = from; index < this.#violations.length; index++) {
      const { field = "", description = "" } = this.#violations[index] ?? {};
      const joint = field === "" || field.startsWith("[") ? "" : ".";
      this.#violations[index] = { field: `${part}${joint}${field}`, description };
    }
  }
}

/** Names come from the caller and may be of any length. */
function clipped(name: string): string {
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}
