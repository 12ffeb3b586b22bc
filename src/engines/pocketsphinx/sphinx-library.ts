import { closeSync, existsSync, writeFileSync } from "node:fs";

/** An address in the memory of the C libraries. */
export type Pointer = bigint;

/** An output parameter: C writes element 0. */
type Out<T> = [T];

/** A slow C function. */
export interface SlowFunction<Arguments extends readonly unknown[], Result> {
  (...values: Arguments): Result;
  /**
   * Calls the function on another thread. No other thread may use its decoder or configuration
   * until the call has ended.
   */
  async(...values: [...Arguments, (error: unknown, result: Result) => void]): void;
}

/** The functions of PocketSphinx 0.8 and its base library that are used, with their C names. */
export interface SphinxLibrary {
  ps_args(): Pointer;
  cmd_ln_parse_r(
    config: null,
    definitions: Pointer,
    count: number,
    values: readonly string[],
    isStrict: number,
  ): Pointer | null;
  cmd_ln_free_r(config: Pointer): number;
  readonly ps_init: SlowFunction<[config: Pointer], Pointer | null>;
  ps_free(decoder: Pointer): number;
  ps_get_logmath(decoder: Pointer): Pointer;
  /** Returns the phones of a word; null if the dictionary lacks it. */
  ps_lookup_word(decoder: Pointer, word: string): string | null;
  ps_add_word(decoder: Pointer, word: string, phones: string, updates: number): number;
  logmath_exp(logmath: Pointer, value: number): number;
  ngram_model_read(config: Pointer, path: string, type: number, logmath: Pointer): Pointer | null;
  ngram_model_free(model: Pointer): number;
  ngram_wid(model: Pointer, word: string): number;
  ngram_unknown_wid(model: Pointer): number;
  /** Adds a reference to each model. */
  readonly ngram_model_set_init: SlowFunction<
    [
      config: Pointer,
      models: readonly Pointer[],
      names: readonly string[],
      weights: Float32Array,
      count: number,
    ],
    Pointer | null
  >;
  ngram_model_set_interp(set: Pointer, names: null, weights: null): Pointer;
  readonly ps_set_lm: SlowFunction<[decoder: Pointer, name: string, model: Pointer], number>;
  ps_set_search(decoder: Pointer, name: string): number;
  fe_init_auto_r(config: Pointer): Pointer | null;
  fe_free(frontEnd: Pointer): number;
  fe_start_stream(frontEnd: Pointer): void;
  fe_start_utt(frontEnd: Pointer): number;
  fe_process_utt(
    frontEnd: Pointer,
    samples: Int16Array,
    count: number,
    block: Out<Pointer | null>,
    frames: Out<number>,
  ): number;
  fe_end_utt(frontEnd: Pointer, frame: Float32Array, frames: Out<number>): number;
  fe_free_2d(block: Pointer): void;
  __ckd_calloc_2d__(d1: number, d2: number, size: number, file: string, line: number): Pointer;
  ps_start_stream(decoder: Pointer): void;
  ps_start_utt(decoder: Pointer): number;
  ps_process_cep(
    decoder: Pointer,
    block: Pointer,
    frames: number,
    noSearch: number,
    fullUtterance: number,
  ): number;
  ps_end_utt(decoder: Pointer): number;
  ps_get_hyp(decoder: Pointer, score: Out<number>): string | null;
  ps_seg_iter(decoder: Pointer): Pointer | null;
  ps_seg_next(segment: Pointer): Pointer | null;
  ps_seg_word(segment: Pointer): string;
  ps_seg_frames(segment: Pointer, start: Out<number>, end: Out<number>): void;
  ps_seg_prob(
    segment: Pointer,
    acoustic: Out<number>,
    language: Out<number>,
    backOff: Out<number>,
  ): number;
  ps_nbest(decoder: Pointer): Pointer | null;
  ps_nbest_next(nbest: Pointer): Pointer | null;
  ps_nbest_hyp(nbest: Pointer, score: Out<number>): string | null;
  ps_nbest_seg(nbest: Pointer): Pointer | null;
  ps_nbest_free(nbest: Pointer): void;
  cmd_ln_set_str_extra_r(config: Pointer, name: string, value: string | null): void;
  logmath_init(base: number, shift: number, usesTable: number): Pointer;
  acmod_init(config: Pointer, logmath: Pointer, frontEnd: null, features: null): Pointer | null;
  acmod_free(model: Pointer): void;
  acmod_start_utt(model: Pointer): number;
  acmod_process_cep(
    model: Pointer,
    block: [Pointer],
    frames: [number],
    fullUtterance: number,
  ): number;
  acmod_score(model: Pointer, frame: [number]): Pointer | null;
  acmod_advance(model: Pointer): number;
  acmod_end_utt(model: Pointer): number;
  bin_mdef_read(config: Pointer, path: string): Pointer | null;
  bin_mdef_ciphone_id(definitions: Pointer, phone: string): number;
  bin_mdef_free(definitions: Pointer): number;
}

/**
 * Returns a view of `count` floats in C's memory, behind the first row of a two-dimensional block.
 */
export type ViewFloats = (block: Pointer, count: number) => Float32Array;

/** Text in memory that has a path, which C can open like a file. */
export interface MemoryFile extends Disposable {
  readonly path: string;
}

/** Numbers and text that C and this process share. */
export interface Views {
  readonly viewFloats: ViewFloats;
  /** Returns a view of `count` 16-bit numbers at this address. */
  readonly viewSamples: (address: Pointer, count: number) => Int16Array;
  /** Writes text to memory, so that what callers send never reaches a disk. */
  readonly memoryFile: (text: string) => MemoryFile;
}

/** MFD_CLOEXEC: no other program inherits the file. */
const closeOnExec = 1;
const baseDeclarations = [
  "cmd_ln_t *cmd_ln_parse_r(cmd_ln_t *, const arg_t *, int32_t, const char **, int)",
  "int cmd_ln_free_r(cmd_ln_t *)",
  "double logmath_exp(logmath_t *, int)",
  "ngram_model_t *ngram_model_read(cmd_ln_t *, const char *, int, logmath_t *)",
  "int ngram_model_free(ngram_model_t *)",
  "int ngram_wid(ngram_model_t *, const char *)",
  "int ngram_unknown_wid(ngram_model_t *)",
  "ngram_model_t *ngram_model_set_init(cmd_ln_t *, ngram_model_t **, const char **, float *, int)",
  "ngram_model_t *ngram_model_set_interp(ngram_model_t *, const char **, const float *)",
  "fe_t *fe_init_auto_r(cmd_ln_t *)",
  "int fe_free(fe_t *)",
  "void fe_start_stream(fe_t *)",
  "int fe_start_utt(fe_t *)",
  "int fe_process_utt(fe_t *, const int16_t *, size_t, _Out_ void **, _Out_ int32_t *)",
  "int fe_end_utt(fe_t *, _Out_ float *, _Out_ int32_t *)",
  "void fe_free_2d(void *)",
  "void cmd_ln_set_str_extra_r(cmd_ln_t *, const char *, const char *)",
  "logmath_t *logmath_init(double, int, int)",
  "void *__ckd_calloc_2d__(size_t, size_t, size_t, const char *, int)",
];
const sphinxDeclarations = [
  "const arg_t *ps_args()",
  "ps_decoder_t *ps_init(cmd_ln_t *)",
  "int ps_free(ps_decoder_t *)",
  "logmath_t *ps_get_logmath(ps_decoder_t *)",
  // The text is the caller's to free, which "!" does.
  "const char *! ps_lookup_word(ps_decoder_t *, const char *)",
  "int ps_add_word(ps_decoder_t *, const char *, const char *, int)",
  "int ps_set_lm(ps_decoder_t *, const char *, ngram_model_t *)",
  "int ps_set_search(ps_decoder_t *, const char *)",
  "void ps_start_stream(ps_decoder_t *)",
  "int ps_start_utt(ps_decoder_t *)",
  "int ps_process_cep(ps_decoder_t *, void *, int, int, int)",
  "int ps_end_utt(ps_decoder_t *)",
  "const char *ps_get_hyp(ps_decoder_t *, _Out_ int32_t *)",
  "ps_seg_t *ps_seg_iter(ps_decoder_t *)",
  "ps_seg_t *ps_seg_next(ps_seg_t *)",
  "const char *ps_seg_word(ps_seg_t *)",
  "void ps_seg_frames(ps_seg_t *, _Out_ int *, _Out_ int *)",
  "int32_t ps_seg_prob(ps_seg_t *, _Out_ int32_t *, _Out_ int32_t *, _Out_ int32_t *)",
  "ps_nbest_t *ps_nbest(ps_decoder_t *)",
  "ps_nbest_t *ps_nbest_next(ps_nbest_t *)",
  "const char *ps_nbest_hyp(ps_nbest_t *, _Out_ int32_t *)",
  "ps_seg_t *ps_nbest_seg(ps_nbest_t *)",
  "void ps_nbest_free(ps_nbest_t *)",
  "acmod_t *acmod_init(cmd_ln_t *, logmath_t *, void *, void *)",
  "void acmod_free(acmod_t *)",
  "int acmod_start_utt(acmod_t *)",
  "int acmod_process_cep(acmod_t *, _Inout_ void **, _Inout_ int *, int)",
  "void *acmod_score(acmod_t *, _Inout_ int *)",
  "int acmod_advance(acmod_t *)",
  "int acmod_end_utt(acmod_t *)",
  "bin_mdef_t *bin_mdef_read(cmd_ln_t *, const char *)",
  "int bin_mdef_ciphone_id(bin_mdef_t *, const char *)",
  "int bin_mdef_free(bin_mdef_t *)",
];
const opaqueTypes = [
  "cmd_ln_t",
  "arg_t",
  "logmath_t",
  "ngram_model_t",
  "fe_t",
  "ps_decoder_t",
  "ps_seg_t",
  "ps_nbest_t",
  "acmod_t",
  "bin_mdef_t",
];

/**
 * Loads the libraries and turns off their log, which would write transcripts to standard error.
 * Throws an Error that names the Debian package if the libraries are not installed.
 */
export async function loadSphinxLibrary(): Promise<{ readonly library: SphinxLibrary } & Views> {
  const koffi = (await import("koffi")).default;
  const open = (name: string) => {
    try {
      return koffi.load(name);
    } catch (cause) {
      throw new Error(`PocketSphinx: ${name} cannot be loaded; apt-get install libpocketsphinx3`, {
        cause,
      });
    }
  };
  const [base, sphinx] = [open("libsphinxbase.so.3"), open("libpocketsphinx.so.3")];
  for (const name of opaqueTypes) koffi.opaque(name);
  base.func("void *err_set_logfp(void *)")(null);
  const bind = (from: typeof base, declarations: readonly string[]) =>
    declarations.map((declaration) => {
      const name = /(\w+)\(/.exec(declaration)?.[1] ?? "";
      return [name, from.func(declaration)] as const;
    });
  const library = asSphinxLibrary(
    Object.fromEntries([...bind(base, baseDeclarations), ...bind(sphinx, sphinxDeclarations)]),
  );
  const viewFloats: ViewFloats = (block, count) => {
    const row: unknown = koffi.decode(block, "void *");
    return new Float32Array(koffi.view(row, count * Float32Array.BYTES_PER_ELEMENT));
  };
  const viewSamples: Views["viewSamples"] = (address, count) =>
    new Int16Array(koffi.view(address, count * Int16Array.BYTES_PER_ELEMENT));
  const createFile = koffi.load("libc.so.6").func("int memfd_create(const char *, unsigned int)");
  const memoryFile: Views["memoryFile"] = (text) => {
    const file = Number(createFile("hlust", closeOnExec));
    if (file < 0) throw new Error("PocketSphinx: memory for a file cannot be reserved");
    writeFileSync(file, text);
    return { path: `/proc/self/fd/${file}`, [Symbol.dispose]: () => closeSync(file) };
  };
  return { library, viewFloats, viewSamples, memoryFile };
}

/**
 * This is the only cast. It cannot be checked that the C functions match the declarations above.
 */
function asSphinxLibrary(functions: Record<string, unknown>): SphinxLibrary {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  return functions as unknown as SphinxLibrary;
}

/** The paths of the parts of Debian's pocketsphinx-en-us. */
export const englishModel = {
  acoustic: "/usr/share/pocketsphinx/model/en-us/en-us",
  language: "/usr/share/pocketsphinx/model/en-us/en-us.lm.bin",
  dictionary: "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict",
} as const;

/** Throws an Error that names the Debian package if a part of the model is missing. */
export function checkEnglishModel(): void {
  const missing = Object.values(englishModel).find((path) => !existsSync(path));
  if (missing === undefined) return;
  throw new Error(`PocketSphinx: ${missing} is missing; apt-get install pocketsphinx-en-us`);
}

export function hasEnglishModel(): boolean {
  return Object.values(englishModel).every((path) => existsSync(path));
}
