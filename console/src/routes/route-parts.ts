import { lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";

/**
 * Loads the file of a page when the page is first opened. The type of its export `Page` is not
 * checked here: the page takes its types from its route, so the route cannot take types from the
 * page.
 */
export const page = (load: () => Promise<unknown>) =>
	lazyRouteComponent(load as () => Promise<{ Page: ComponentType }>, "Page");

const text = (value: unknown) =>
	typeof value === "string" && value !== "" ? value : undefined;

/** Returns the parameters with these names that are texts. */
export function withText<Name extends string>(
	raw: Record<string, unknown>,
	...names: Name[]
): { [N in Name]?: string } {
	const found: { [N in Name]?: string } = {};
	for (const name of names) {
		const value = text(raw[name]);
		if (value !== undefined) found[name] = value;
	}
	return found;
}
