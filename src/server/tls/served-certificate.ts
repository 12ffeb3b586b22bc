import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CertificateNotYetValid,
  readCertificate,
  type Certificate,
  type CertificateFiles,
} from "../../std/certificate.ts";
import { errorFields, type Log } from "../../std/log.ts";
import { ConfigError } from "../../std/setting.ts";

/** How often the files are looked at. Notifications do not work on every file system. */
const lookMsDefault = 2_000;
const dayMs = 24 * 3_600_000;
/** A certificate that expires sooner is logged each day. Most are renewed 30 days before. */
const warnedDays = 14;

interface CertificateParts {
  readonly log: Log;
  readonly lookMs?: number;
  readonly now?: () => Date;
}

/** The certificate of a port, which follows its files. */
export class ServedCertificate implements AsyncDisposable {
  #files: CertificateFiles;
  readonly #log: Log;
  readonly #now: () => Date;
  readonly #ending = new AbortController();
  readonly #listeners: ((certificate: Certificate) => void)[] = [];
  #current: Certificate;
  /** The state of the files that `current` was read from, or that were refused. */
  #readState: string;
  /** The state of the files at the last look. */
  #seenState: string;
  /** When refused files may have become valid. */
  #retryAt: Date | undefined;
  #warnedAt = -Infinity;
  #looking: Promise<void> = Promise.resolve();
  readonly #watch: Promise<void>;

  private constructor(
    read: { readonly certificate: Certificate; readonly state: string },
    files: CertificateFiles,
    { log, lookMs = lookMsDefault, now = () => new Date() }: CertificateParts,
  ) {
    this.#files = files;
    this.#log = log;
    this.#now = now;
    this.#current = read.certificate;
    this.#readState = this.#seenState = read.state;
    this.#warn();
    this.#watch = this.#lookEvery(lookMs);
  }

  /** Reads the certificate, and follows its files. Throws as readCertificate() does. */
  static async open(files: CertificateFiles, parts: CertificateParts): Promise<ServedCertificate> {
    const state = await stateOf(files);
    const certificate = await readCertificate(files, parts.now?.());
    parts.log.info(factsOf(certificate), "tls.certificate_loaded");
    return new ServedCertificate({ certificate, state }, files, parts);
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Calls `listener` with each certificate that replaces the current one. */
  onReplaced(listener: (certificate: Certificate) => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the files at once, even if they are unchanged. If they are refused, nothing changes. */
  async reload(files: CertificateFiles = this.#files): Promise<void> {
    this.#files = files;
    await this.#next(async () => {
      this.#seenState = await stateOf(files);
      await this.#read();
    });
  }

  /**
   * Reads the files if they have changed, and not since the last look either: a program that writes
   * two files, or a long one, gets the time between two looks for it.
   */
  async #look(): Promise<void> {
    const state = await stateOf(this.#files);
    const isSettled = state === this.#seenState;
    this.#seenState = state;
    const isDue = this.#retryAt !== undefined && this.#now() >= this.#retryAt;
    if (isSettled && (state !== this.#readState || isDue)) await this.#read();
    this.#warn();
  }

  async #read(): Promise<void> {
    this.#readState = this.#seenState;
    this.#retryAt = undefined;
    try {
      const certificate = await readCertificate(this.#files, this.#now());
      for (const listener of this.#listeners) listener(certificate);
      this.#current = certificate;
      this.#warnedAt = -Infinity;
      this.#log.info(factsOf(certificate), "tls.certificate_replaced");
    } catch (error) {
      if (error instanceof CertificateNotYetValid) this.#retryAt = error.validFrom;
      const fields = error instanceof ConfigError ? { problem: error.message } : errorFields(error);
      this.#log.warn({ ...fields, serving: factsOf(this.#current) }, "tls.certificate_refused");
    }
  }

  #warn(): void {
    const now = this.#now().getTime();
    const leftMs = this.#current.expiresAt.getTime() - now;
    if (leftMs > warnedDays * dayMs || now - this.#warnedAt < dayMs) return;
    this.#warnedAt = now;
    const event = leftMs > 0 ? "tls.certificate_expires_soon" : "tls.certificate_expired";
    this.#log.warn(factsOf(this.#current), event);
  }

  /** Reads one after the other. */
  #next(read: () => Promise<void>): Promise<void> {
    this.#looking = this.#looking.then(read);
    return this.#looking;
  }

  async #lookEvery(ms: number): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.#next(() => this.#look());
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#watch;
  }
}

function factsOf({ names, expiresAt }: Certificate): Record<string, unknown> {
  return { names, expiresAt: expiresAt.toISOString() };
}

/**
 * Returns what changes when a file is written, or replaced, or a link to it leads elsewhere. A file
 * that cannot be read has a state too.
 */
async function stateOf({ certificate, key }: CertificateFiles): Promise<string> {
  const states = await Promise.all(
    [certificate.path, key.path].map(async (path) => {
      try {
        const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
        return [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
      } catch (error) {
        return `${path} ${String(error)}`;
      }
    }),
  );
  return states.join("\n");
}
