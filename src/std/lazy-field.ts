/**
 * Lets `read` make the value of an object's property when somebody asks for it first; assigning it
 * works as before.
 */
export function defineLazyField(message: object, name: string, read: () => unknown): void {
  const set = (value: unknown): void => {
    Object.defineProperty(message, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  };
  const get = (): unknown => {
    const value = read();
    set(value);
    return value;
  };
  Object.defineProperty(message, name, { get, set, enumerable: true, configurable: true });
}
