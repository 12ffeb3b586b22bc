import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { textOf } from "../spec/jobs.ts";
import { callRest, type Answer } from "../spec/service.ts";
import { segmentOf } from "../spec/transcripts.ts";
import type { Chance } from "./chance.ts";

const askMsMax = 60_000;

/** The content of a version, as far as the writer changes it. */
interface Content {
  readonly subject: string;
  readonly text: string;
}

/** The state of a transcript, according to the responses so far. */
interface Line {
  readonly name: string;
  /** The versions, oldest first. */
  readonly versions: (Content & { readonly id: string })[];
  mediaSha256: string | undefined;
}

/** A write that got no response: it was applied either completely or not at all. */
type Unanswered =
  | { readonly kind: "version"; readonly content: Content }
  | { readonly kind: "media"; readonly sha256: string }
  | { readonly kind: "deletion" };

/** The service that currently accepts calls. */
export interface Target {
  address: string;
  readonly key: string;
}

/**
 * A caller that writes continuously: it creates, changes metadata and segments with If-Match,
 * restores, uploads and deletes. After a write without a response, the caller determines whether
 * the write was applied, and checks that the result is one of the two possible ones.
 */
export class ArchiveWriter {
  readonly #target: Target;
  readonly #chance: Chance;
  readonly #id: number;
  readonly #lines = new Map<string, Line>();
  readonly #deleted: string[] = [];
  /** The creations without a response, by subject. */
  readonly #maybe = new Map<string, Content>();
  #count = 0;
  #answered = 0;
  #unanswered = 0;

  constructor(target: Target, id: number, chance: Chance) {
    this.#target = target;
    this.#id = id;
    this.#chance = chance;
  }

  /** The numbers of writes with and without a response. */
  get counts(): { readonly answered: number; readonly unanswered: number } {
    return { answered: this.#answered, unanswered: this.#unanswered };
  }

  async write(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const lines = [...this.#lines.values()];
      const isFew = lines.length < 3;
      const kind = isFew ? 0 : this.#chance.below(100);
      if (kind < 15) await this.#create();
      else await this.#change(this.#chance.oneOf(lines), kind);
    }
  }

  async #change(line: Line, kind: number): Promise<void> {
    if (kind < 40) await this.#patch(line, { subject: this.#newText(1) });
    else if (kind < 60) await this.#patch(line, { text: this.#newText() });
    else if (kind < 70) {
      await this.#patch(line, { subject: this.#newText(1), text: this.#newText() });
    } else if (kind < 78) await this.#restore(line);
    else if (kind < 94) await this.#upload(line);
    else await this.#delete(line);
  }

  /**
   * Returns a new text. Texts differ in their first word, and some are long, so that a kill
   * interrupts their write.
   */
  #newText(words = this.#chance.oneOf([2, 20, 20, 2_000])): string {
    this.#count += 1;
    return `w${this.#id}n${this.#count} ${"orð ".repeat(words - 1)}`;
  }

  /** Makes a call; returns undefined if the call may or may not have been executed. */
  async #call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer | undefined> {
    try {
      const { address, key } = this.#target;
      const answer = await callRest(address, key, { method, path, body, headers });
      return answer.status >= 500 ? undefined : answer;
    } catch {
      // The next process is being started.
      await delay(40);
      return undefined;
    }
  }

  /** Repeats a call until it gets a response, for at most a minute. */
  async #ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    const giveUpAt = Date.now() + askMsMax;
    for (;;) {
      const answer = await this.#call(method, path, body, headers);
      if (answer) return answer;
      assert.ok(Date.now() < giveUpAt, `${method} ${path} is not answered`);
      await delay(40);
    }
  }

  async #create(): Promise<void> {
    const content = { subject: this.#newText(1), text: this.#newText() };
    const metadata = { fileType: "AUDIO", languageCode: "is-IS", subject: content.subject };
    const segments = [segmentOf(content.text)];
    const answer = await this.#call("POST", "/v1alpha1/transcripts", { metadata, segments });
    if (!answer) {
      this.#unanswered += 1;
      this.#maybe.set(content.subject, content);
      return;
    }
    this.#answered += 1;
    assert.equal(answer.status, 200);
    const { name } = answer.json;
    const line = { name, versions: [], mediaSha256: undefined };
    this.#lines.set(name, line);
    await this.#learnNewest(line, content);
  }

  async #patch(line: Line, change: Partial<Content>): Promise<void> {
    const content = { ...newestOf(line), ...change };
    const answer = await this.#call("PATCH", `/v1alpha1/${line.name}`, patchBody(change), {
      "if-match": `"${newestOf(line).id}"`,
    });
    await this.#took(line, answer, { kind: "version", content });
  }

  async #restore(line: Line): Promise<void> {
    const { id, subject, text } = this.#chance.oneOf(line.versions);
    const answer = await this.#call("POST", `/v1alpha1/${line.name}:restore`, { version: id });
    await this.#took(line, answer, { kind: "version", content: { subject, text } });
  }

  async #upload(line: Line): Promise<void> {
    const started = await this.#ask("POST", "/v1alpha1/initupload", { resourceName: line.name });
    const bytes = Buffer.alloc(this.#chance.oneOf([100, 50_000, 1_000_000]), this.#newText(2));
    const sha256 = sha256Of(bytes);
    const url = this.#hereOf(started.json.storageSignedUrl);
    const status = await fetch(url, { method: "PUT", body: chunksOf(bytes), duplex: "half" }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 503,
    );
    if (status < 500) {
      this.#answered += 1;
      assert.equal(status, 200);
      line.mediaSha256 = sha256;
      return;
    }
    await this.#settle(line, { kind: "media", sha256 });
  }

  async #delete(line: Line): Promise<void> {
    const answer = await this.#call("DELETE", `/v1alpha1/${line.name}`);
    if (!answer) {
      await this.#settle(line, { kind: "deletion" });
      return;
    }
    this.#answered += 1;
    assert.equal(answer.status, 200);
    this.#forget(line);
  }

  #forget(line: Line): void {
    this.#lines.delete(line.name);
    this.#deleted.push(line.name);
  }

  /** Records the content of the response to a write. */
  async #took(
    line: Line,
    answer: Answer | undefined,
    write: Extract<Unanswered, { kind: "version" }>,
  ): Promise<void> {
    if (!answer) {
      await this.#settle(line, write);
      return;
    }
    this.#answered += 1;
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    this.#learn(line, answer, write.content);
  }

  async #learnNewest(line: Line, content: Content): Promise<void> {
    this.#learn(line, await this.#ask("GET", `/v1alpha1/${line.name}`), content);
  }

  #learn(line: Line, { json }: Answer, content: Content): void {
    assert.equal(json.metadata.subject, content.subject);
    assert.equal(textOf(json), content.text);
    const parent = line.versions.at(-1);
    assert.equal(json.version.parent, parent?.id ?? "");
    line.versions.push({ subject: content.subject, text: content.text, id: json.version.name });
  }

  /**
   * Determines the result of a write without a response. Its commit may not have reached the disk
   * yet: a change to the known version waits for the commit, and succeeds only if the write did not
   * change that version.
   */
  async #settle(line: Line, write: Unanswered): Promise<void> {
    this.#unanswered += 1;
    const probe = { subject: this.#newText(1) };
    const { id, text } = newestOf(line);
    const ifMatch = `"${id}"`;
    const answer = await this.#ask("PATCH", `/v1alpha1/${line.name}`, patchBody(probe), {
      "if-match": ifMatch,
    });
    if (answer.status === 404) {
      assert.equal(write.kind, "deletion");
      this.#forget(line);
      return;
    }
    if (answer.status === 200) {
      this.#learn(line, answer, { ...probe, text });
    } else {
      assert.equal(answer.status, 409, JSON.stringify(answer.json));
      await this.#learnTaken(line, write, { ...probe, text });
    }
    if (write.kind === "media") {
      const found = await this.#mediaSha256Of(line);
      assert.ok(found === line.mediaSha256 || found === write.sha256, `${line.name}: its media`);
      line.mediaSha256 = found;
    }
  }

  /**
   * Handles a known version that is not the newest: either the write was applied, or the probe was
   * applied in an attempt without a response.
   */
  async #learnTaken(line: Line, write: Unanswered, probe: Content): Promise<void> {
    const known = new Set(line.versions.map(({ id }) => id));
    const later = (await this.#versionIds(line.name)).filter((id) => !known.has(id));
    assert.equal(later.length, 1, `${line.name}: unknown versions`);
    const path = `/v1alpha1/${line.name}/versions/${later[0]}`;
    const answer = await this.#ask("GET", path);
    const isProbe = answer.json.metadata.subject === probe.subject;
    if (isProbe) this.#learn(line, answer, probe);
    else if (write.kind === "version") this.#learn(line, answer, write.content);
    else assert.fail(`${line.name} has an unknown version`);
  }

  /** Returns the ids of all versions, oldest first. */
  async #versionIds(name: string): Promise<string[]> {
    const ids: string[] = [];
    for (let token = ""; ;) {
      const query = `pageSize=1000&pageToken=${encodeURIComponent(token)}`;
      const { status, json } = await this.#ask("GET", `/v1alpha1/${name}/versions?${query}`);
      assert.equal(status, 200);
      for (const version of json.versions) ids.push(version.name.split("/").at(-1));
      token = json.nextPageToken;
      if (token === "") return ids.toReversed();
    }
  }

  /**
   * Returns the hash of a transcript's media. Media that is not found is asked for again, for at
   * most a minute: an upload without a response may be committed, and replace the media, between
   * the two calls.
   */
  async #mediaSha256Of(line: Line): Promise<string | undefined> {
    const giveUpAt = Date.now() + askMsMax;
    for (;;) {
      const { json } = await this.#ask("GET", `/v1alpha1/${line.name}`);
      if (json.uri === "") return undefined;
      const response = await fetch(this.#hereOf(json.uri)).catch(() => undefined);
      const bytes = await response?.arrayBuffer().catch(() => undefined);
      if (response?.status === 200 && bytes) return sha256Of(Buffer.from(bytes));
      const status = response?.status ?? 503;
      const isTemporary = status >= 500 || status === 404 || status === 200;
      assert.ok(isTemporary && Date.now() < giveUpAt, `${line.name}: its media answers ${status}`);
      await delay(40);
    }
  }

  /**
   * Returns a signed URL with the address of the process that accepts calls now. The process that
   * created it may have ended, and its port may belong to another process; every process accepts
   * its signature.
   */
  #hereOf(signedUrl: string): string {
    const { pathname, search } = new URL(signedUrl);
    return `${this.#target.address}${pathname}${search}`;
  }

  /**
   * Reads everything and asserts that every acknowledged write is preserved exactly. Returns the
   * names of the transcripts that may be listed.
   */
  async verify(): Promise<{ readonly names: Set<string>; readonly maybe: Map<string, Content> }> {
    for (const line of this.#lines.values()) {
      const ids = line.versions.map(({ id }) => id);
      assert.deepEqual(await this.#versionIds(line.name), ids, line.name);
      let parent = "";
      for (const { id, subject, text } of line.versions) {
        const name = `${line.name}/versions/${id}`;
        const { status, json } = await this.#ask("GET", `/v1alpha1/${name}`);
        assert.equal(status, 200, name);
        assert.equal(json.metadata.subject, subject, name);
        assert.equal(textOf(json), text, name);
        assert.equal(json.version.parent, parent, name);
        parent = id;
      }
      const head = await this.#ask("GET", `/v1alpha1/${line.name}`);
      assert.equal(head.json.version.name, parent);
      assert.equal(await this.#mediaSha256Of(line), line.mediaSha256, `${line.name}: its media`);
    }
    for (const name of this.#deleted) {
      assert.equal((await this.#ask("GET", `/v1alpha1/${name}`)).status, 404, name);
    }
    return { names: new Set(this.#lines.keys()), maybe: this.#maybe };
  }
}

function newestOf(line: Line): Line["versions"][number] {
  return line.versions.at(-1) ?? assert.fail(`${line.name} has no version`);
}

function patchBody({ subject, text }: Partial<Content>): object {
  return {
    ...(subject !== undefined && { metadata: { subject } }),
    ...(text !== undefined && { segments: [segmentOf(text)] }),
  };
}

function sha256Of(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Yields the bytes in parts, so that they are sent in several writes. */
async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
}
