/** Removes the code from the address, so that no history or bookmark contains it; undefined without one. */
export function takeCode(): string | undefined {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, "", `${location.pathname}#/`);
  return code;
}
