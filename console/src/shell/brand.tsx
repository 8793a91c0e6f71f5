import { Group, Text } from "@mantine/core";

export function Brand({ size = 24 }: { size?: number }) {
	return (
		<Group gap={8} wrap="nowrap">
			<img src="/favicon.svg" alt="" width={size} height={size} />
			<Text fw={700} fz={size * 0.7} visibleFrom="xs">
				Assay
			</Text>
		</Group>
	);
}
