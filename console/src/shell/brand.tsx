import { Group, Text } from "@mantine/core";

/**
 * Shows the logo and the name. With `isAlone`, nothing is beside it, so the name is also shown on a
 * narrow screen.
 */
export function Brand({
	size = 24,
	isAlone = false,
}: {
	size?: number;
	isAlone?: boolean;
}) {
	return (
		<Group gap={8} wrap="nowrap">
			<img src="/favicon.svg" alt="" width={size} height={size} />
			<Text
				fw={700}
				fz={size * 0.7}
				{...(isAlone ? {} : { visibleFrom: "xs" as const })}
			>
				Assay
			</Text>
		</Group>
	);
}
