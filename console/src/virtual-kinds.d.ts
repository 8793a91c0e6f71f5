declare module "virtual:kinds" {
	/** The registers. kinds-plugin.ts generates this module while the console is built. */
	export const kinds: readonly import("./kind-description.ts").KindDescription[];
	/** The names of the toolsets to which an API token may be limited. */
	export const toolsets: readonly string[];
}
