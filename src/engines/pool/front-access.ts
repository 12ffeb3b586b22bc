import type { FrameWriter, ListenAt } from "../protocol/engine-frames.ts";

/**
 * The time within which a process listens for front processes. Without an answer, their frames pass
 * through this process.
 */
const listenMsMax = 10_000;

/** Whether front processes connect to an engine process themselves. */
export class FrontAccess {
  readonly #writer: FrameWriter;
  #onAnswer: (isListening: boolean) => void = () => {};
  #isOpen = false;

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Lets the process listen. Resolves to the problem if it has ended, cannot listen, or has not
   * answered after `msMax`. Default: 10 s.
   */
  async open(
    at: ListenAt,
    { exited, msMax = listenMsMax }: { readonly exited: Promise<unknown>; readonly msMax?: number },
  ): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#onAnswer = (isListening) => resolve(isListening ? undefined : "it cannot listen");
    void exited.then(() => resolve("it has ended"));
    const timer = setTimeout(() => resolve(`it did not answer within ${msMax / 1000} s`), msMax);
    this.#writer.writeJson("listen", 0, at);
    const problem = await promise;
    clearTimeout(timer);
    this.#isOpen = problem === undefined;
    return problem;
  }

  /** Takes the answer of the process. */
  answered(isListening: boolean): void {
    this.#onAnswer(isListening);
  }
}
