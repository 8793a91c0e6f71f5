/** Returns the name of a toolset as people read it, for example "Audit log" for "audit_log". */
export function toolsetLabel(name: string): string {
	return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");
}
