declare module "virtual:docs" {
	/** The documents of this version. docs-plugin.ts generates this module. */
	export const docs: readonly {
		name: string;
		title: string;
		load: () => Promise<{ default: string }>;
	}[];
}

declare module "virtual:kinds" {
	/** The registers. kinds-plugin.ts generates this module while the console is built. */
	export const kinds: readonly import("./kind-description.ts").KindDescription[];
	/** The names of the toolsets that an API token can be limited to. */
	export const toolsets: readonly string[];
}
