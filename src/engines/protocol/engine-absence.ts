/** The ErrorInfo.reason while no engine of a language can recognize. */
export const noEngine = "NO_ENGINE";
/** The ErrorInfo.reason for audio that crashes engine processes, or fails at a server. */
export const engineFailed = "ENGINE_FAILED";

/**
 * UNREACHABLE: it does not answer, or answers with a failure of its own. BUSY: it has no room.
 * DENIED: it refuses the key, or does not have the model.
 */
export const absenceKinds = ["UNREACHABLE", "BUSY", "DENIED"] as const;

/** Why the server of a hosted model cannot recognize now. */
export interface EngineAbsence {
  readonly kind: (typeof absenceKinds)[number];
  /** What happened, in words for the operator, without the key. */
  readonly reason: string;
  /** The time since the server last recognized anything, or since it was first missed. */
  readonly absentMs: number;
}

/**
 * The error of a decoder whose server cannot recognize now. The audio is not the cause: another
 * model, or the same one later, recognizes it.
 */
export class EngineUnavailable extends Error {
  override readonly name = "EngineUnavailable";
  readonly absence: EngineAbsence;

  constructor(absence: EngineAbsence) {
    super(absence.reason);
    this.absence = absence;
  }
}
