import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import {
	PLATFORM_NAMES,
	type Platform,
} from "../../../../src/devices/terms.ts";

const ALL = Object.keys(PLATFORM_NAMES) as Platform[];

/** Shows a tab for each platform, with what `children` returns for it. */
export function PlatformTabs({
	initial,
	children,
}: {
	initial: Platform;
	children: (platform: Platform) => ReactNode;
}) {
	return (
		<Tabs defaultValue={initial} keepMounted={false}>
			<Tabs.List mb="sm">
				{ALL.map((platform) => (
					<Tabs.Tab key={platform} value={platform}>
						{PLATFORM_NAMES[platform]}
					</Tabs.Tab>
				))}
			</Tabs.List>
			{ALL.map((platform) => (
				<Tabs.Panel key={platform} value={platform}>
					{children(platform)}
				</Tabs.Panel>
			))}
		</Tabs>
	);
}
