import { useLayoutEffect } from "react";

/**
 * Marks the root element of the page with an attribute, data-NAME, while `isSet`. Styles use it for
 * elements around a text instead of :has(), for which browsers search all of a long text again each
 * time that something comes into the page.
 */
export function useRootMark(name: string, isSet: boolean): void {
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    if (isSet) dataset[name] = "";
    return () => {
      delete dataset[name];
    };
  }, [name, isSet]);
}
