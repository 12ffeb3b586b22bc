import { type ComponentProps, lazy, type ReactNode, Suspense } from "react";
import type * as playing from "./player/player.tsx";
import { useRootMark } from "./use-root-mark.ts";
import "./reading.css";

const Player = lazy(() =>
  import("./player/player.tsx").then(({ Player }) => ({ default: Player })),
);

type PlayerProps = ComponentProps<typeof playing.Player>;

/**
 * A transcript on its page: its head, its text, what is next to the text, and the player if there
 * is a `playback`.
 */
export function ReadingFrame({
  head,
  side,
  playback,
  children,
  ...props
}: Omit<PlayerProps, "playback"> & {
  readonly head: ReactNode;
  readonly side: ReactNode;
  readonly playback: PlayerProps["playback"] | undefined;
  readonly children: ReactNode;
}) {
  const { picture, isEditing = false } = props;
  // The bar of the editor has the place at the top.
  const isLarge = picture.isLarge && !isEditing;
  useRootMark("picture", picture.isShown);
  useRootMark("largePicture", isLarge);
  useRootMark("player", playback !== undefined);
  const looks = [
    "reading",
    playback && "playable",
    picture.isShown && "with-picture",
    isLarge && "with-large-picture",
  ];
  return (
    <div className={looks.filter(Boolean).join(" ")}>
      {head}
      <div className="reading-columns">
        {children}
        {side}
      </div>
      {playback && (
        <Suspense>
          <Player {...props} playback={playback} />
        </Suspense>
      )}
    </div>
  );
}
