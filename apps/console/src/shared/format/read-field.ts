/** Returns the text of a form's field without the blanks around it; a field that is not there is empty. */
export function readField(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}
