import { BlockList, isIP } from 'node:net';

/** Tests whether an address, as returned by a resolver, is on the public internet. */
export type IsPublicAddress = (address: string) => boolean;

/** Only addresses known to be public pass. Unreadable addresses, addresses with a zone and unassigned ranges do not. */
export function createIsPublicAddress(): IsPublicAddress {
  const inner = listOf(innerRanges);
  const globalUnicast = listOf(['2000::/3']);
  return (address) => {
    // A zone names one of this machine's own interfaces.
    if (address.includes('%')) return false;
    const version = isIP(address);
    if (version === 4) return !inner.check(address, 'ipv4');
    return version === 6 && globalUnicast.check(address, 'ipv6') && !inner.check(address, 'ipv6');
  };
}

/**
 * The IANA special-purpose registries. For IPv6, only the ranges inside global unicast: loopback, ULA, link-local,
 * site-local, multicast, IPv4-mapped and IPv4-compatible addresses and NAT64 are outside it.
 */
const innerRanges: readonly string[] = [
  '0.0.0.0/8', // this network, the unspecified address
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; metadata service of one cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // host of one cloud, as seen from its machines
  '169.254.0.0/16', // link-local; metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocol assignments: Teredo (embeds an IPv4 address), benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4 (embeds an IPv4 address)
  '3fff::/20', // documentation
];

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), isIP(network) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
