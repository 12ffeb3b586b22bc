// Vite builds a module imported this way into a file of its own, and provides its URL.
declare module "*?worker&url" {
  const url: string;
  export default url;
}
