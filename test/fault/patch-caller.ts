import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { callRest, type Answer } from "../spec/service.ts";
import type { CallCounter } from "./call-counter.ts";

/** The pause between two calls. */
const pauseMs = 30;

interface PatchTarget {
  readonly address: string;
  readonly key: string;
  /** The name of the transcript. */
  readonly name: string;
}

/**
 * Repeatedly changes the subject of a transcript over REST, and records the acknowledged changes.
 */
export class PatchCaller {
  /** The acknowledged versions, with their subjects. */
  readonly acknowledged = new Map<string, string>();
  readonly #name: string;
  readonly #target: PatchTarget;
  readonly #counter: CallCounter;

  constructor(name: string, target: PatchTarget, counter: CallCounter) {
    this.#name = name;
    this.#target = target;
    this.#counter = counter;
    counter.addCaller(name);
  }

  async patch(signal: AbortSignal): Promise<void> {
    const { address, key, name } = this.#target;
    for (let count = 1; !signal.aborted; count += 1) {
      const subject = `subject ${count}`;
      const body = { metadata: { subject } };
      const call = { method: "PATCH", path: `/v1alpha1/${name}`, body };
      await callRest(address, key, call).then(
        (answer) => {
          if (answer.status !== 200) return this.#counter.failed(this.#name, answer);
          this.acknowledged.set(answer.json.version.name, subject);
          this.#counter.add("answered", this.#name);
        },
        (error: unknown) => this.#counter.failed(this.#name, error),
      );
      await delay(pauseMs);
    }
  }

  /** Asserts that every acknowledged version exists. */
  async verify(): Promise<void> {
    const kept = new Set<string>();
    for (let token = ""; ;) {
      const query = `pageSize=1000&pageToken=${encodeURIComponent(token)}`;
      const { json } = await this.#get(`${this.#target.name}/versions?${query}`);
      for (const { name } of json.versions) kept.add(name.split("/").at(-1));
      token = json.nextPageToken;
      if (token === "") break;
    }
    const lost = [...this.acknowledged.keys()].filter((version) => !kept.has(version));
    assert.deepEqual(lost, [], `${this.#target.name}: versions that were acknowledged`);
    const [version, subject] = [...this.acknowledged].at(-1) ?? assert.fail("nothing was done");
    const { json } = await this.#get(`${this.#target.name}/versions/${version}`);
    assert.equal(json.metadata.subject, subject);
  }

  async #get(path: string): Promise<Answer> {
    const { address, key } = this.#target;
    const answer = await callRest(address, key, { method: "GET", path: `/v1alpha1/${path}` });
    assert.equal(answer.status, 200);
    return answer;
  }
}
