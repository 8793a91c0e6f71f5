declare module "virtual:kinds" {
	/** Made by kinds-plugin.ts while the console is built. */
	export const kinds: readonly import("./kind-description.ts").KindDescription[];
	/** Names of the toolsets that an API token may be narrowed to. */
	export const toolsets: readonly string[];
}
