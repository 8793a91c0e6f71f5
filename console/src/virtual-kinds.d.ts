declare module "virtual:kinds" {
	import type { KindDescription } from "./kind-description.ts";

	export const kinds: readonly KindDescription[];
}
