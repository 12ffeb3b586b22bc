import { type ComponentType, useEffect, useState } from "react";
import { loadChunk, reportLoadProblem } from "./load-problems.ts";

/**
 * Returns a component whose code is loaded when it is first shown. If that fails, for example
 * without a network, LoadProblem says so, and the rest of the page stays as it is. (The failure of
 * lazy() takes the page down, and is final.)
 */
export function loadLater<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [Shown, setShown] = useState(() => Loaded);
    useEffect(() => {
      if (Shown) return undefined;
      let isGone = false;
      let takeBack: (() => void) | undefined;
      const begin = (): void => {
        takeBack?.();
        takeBack = undefined;
        void loadChunk(load).then(
          (found) => {
            Loaded = found;
            if (!isGone) setShown(() => found);
          },
          () => {
            if (!isGone) takeBack = reportLoadProblem(begin);
          },
        );
      };
      begin();
      return () => {
        isGone = true;
        takeBack?.();
      };
    }, [Shown]);
    return Shown ? <Shown {...props} /> : null;
  };
}
