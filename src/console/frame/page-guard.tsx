import { Component, type ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";

/**
 * Catches the errors of a page, so that the console stays usable. A new `key` resets the guard.
 */
export class PageGuard extends Component<
  { readonly children: ReactNode },
  { readonly isBroken: boolean }
> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const t = useText();
  return (
    <Empty title={t(commonText.pageBroken)}>
      <p>{t(commonText.pageBrokenNext)}</p>
      <Button onPress={() => location.reload()}>{t(commonText.reload)}</Button>
    </Empty>
  );
}
