import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { open } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { ConfigError } from "./setting.ts";

/** A file that a setting names. */
export interface NamedFile {
  readonly setting: string;
  readonly path: string;
}

/** The PEM files of a certificate, with those of its issuers, and of its key. */
export interface CertificateFiles {
  readonly certificate: NamedFile;
  readonly key: NamedFile;
}

/** A certificate that can be served now. */
export interface Certificate {
  /** The contents of the files. */
  readonly cert: string;
  readonly key: string;
  /** The names and addresses that it is for, as in its subjectAltName. */
  readonly names: string;
  readonly expiresAt: Date;
}

/** The error for a certificate that will be valid later. */
export class CertificateNotYetValid extends ConfigError {
  readonly validFrom: Date;

  constructor(message: string, validFrom: Date) {
    super(message);
    this.validFrom = validFrom;
  }
}

/** A chain of 20 certificates has less. */
const fileBytesMax = 1 << 20;

/**
 * Reads a certificate and its key. Throws a ConfigError with the setting and the file if a file
 * cannot be read or is incomplete, or if the certificate has another key or is not valid at `now`.
 */
export async function readCertificate(
  files: CertificateFiles,
  now: Date = new Date(),
): Promise<Certificate> {
  const cert = await readText(files.certificate);
  const key = await readText(files.key);
  const [leaf, ...issuers] = parseCertificates(cert, files.certificate);
  const privateKey = parseKey(key, files.key);
  if (!leaf?.checkPrivateKey(privateKey)) {
    const later = issuers.findIndex((issuer) => issuer.checkPrivateKey(privateKey));
    throw problemOf(
      files.certificate,
      later < 0
        ? `belongs to another key than ${files.key.path} (${files.key.setting})`
        : `must begin with the certificate of the server, which is certificate ${later + 2} in it`,
    );
  }
  const { validFromDate, validToDate } = leaf;
  if (now >= validToDate) {
    throw problemOf(files.certificate, `expired at ${validToDate.toISOString()}`);
  }
  if (now < validFromDate) {
    const { message } = problemOf(
      files.certificate,
      `is valid from ${validFromDate.toISOString()} on; it is ${now.toISOString()}`,
    );
    throw new CertificateNotYetValid(message, validFromDate);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw problemOf(files.certificate, `cannot be served: ${messageOf(error)}`);
  }
  return { cert, key, names: leaf.subjectAltName ?? leaf.subject, expiresAt: validToDate };
}

async function readText(file: NamedFile): Promise<string> {
  try {
    await using handle = await open(file.path);
    const { size } = await handle.stat();
    if (size > fileBytesMax) throw new Error(`it has ${size} bytes; at most 1 MiB is allowed`);
    return await handle.readFile("latin1");
  } catch (error) {
    throw problemOf(file, `cannot be read: ${messageOf(error)}`);
  }
}

function parseCertificates(text: string, file: NamedFile): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const begun = text.match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0;
  if (begun === 0) {
    throw problemOf(file, "has no certificate in PEM form (-----BEGIN CERTIFICATE-----)");
  }
  if (begun !== blocks.length) {
    throw problemOf(file, `is incomplete: it ends within certificate ${begun}`);
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw problemOf(file, `has a damaged certificate ${index + 1}: ${messageOf(error)}`);
    }
  });
}

function parseKey(text: string, file: NamedFile): KeyObject {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw problemOf(file, "has no private key in PEM form (-----BEGIN PRIVATE KEY-----)");
  }
  if (!/-----END [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw problemOf(file, "is incomplete: it ends within the key");
  }
  if (/ENCRYPTED/.test(text)) {
    throw problemOf(
      file,
      "has an encrypted key, which needs a passphrase: decrypt it with `openssl pkey -in FILE -out NEW`",
    );
  }
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw problemOf(file, `has a damaged key: ${messageOf(error)}`);
  }
}

function problemOf({ setting, path }: NamedFile, problem: string): ConfigError {
  return new ConfigError(`${setting}: ${path} ${problem}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
