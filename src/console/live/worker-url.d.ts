// Vite builds a module that is imported this way into its own file, and provides the URL of that
// file.
declare module "*?worker&url" {
  const url: string;
  export default url;
}
