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
			{/* The same picture as in index.html. A file would be one more request for each page. */}
			<svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
				<rect width="32" height="32" rx="7" fill="#364fc7" />
				<path
					d="M9 17l5 5 9-12"
					fill="none"
					stroke="#fff"
					strokeWidth="3.5"
					strokeLinecap="round"
					strokeLinejoin="round"
				/>
			</svg>
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
