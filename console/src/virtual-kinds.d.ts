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
}

declare module "virtual:toolsets" {
	/**
	 * The toolsets that an API token can be limited to, with a sentence about each, and one about
	 * what a read-only token may do, if it may call any of the tools. kinds-plugin.ts generates this
	 * module.
	 */
	export const toolsets: readonly {
		name: string;
		description: string;
		reading?: string;
	}[];
}
