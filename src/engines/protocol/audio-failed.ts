/**
 * The error of a decoder whose server is there, but answers this audio with an error: it may
 * recognize all other audio.
 */
export class AudioFailed extends Error {
  override readonly name = "AudioFailed";
  /** What the server answered, in words for the caller: a status, without its address. */
  readonly answer: string;

  /** `message`: in words for the operator, without the key. */
  constructor(message: string, answer: string, cause: unknown) {
    super(message, { cause });
    this.answer = answer;
  }
}
