import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createIsPublicAddress } from './egress-addresses.ts';

const isPublic = createIsPublicAddress();

const inner = [
  ['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.100.100.200', '100.127.255.255'],
  ['127.0.0.1', '127.255.255.255', '168.63.129.16', '169.254.0.1', '169.254.169.254', '169.254.170.2'],
  ['172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1'],
  ['198.18.0.0', '198.19.255.255', '198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
  [
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '::ffff:0:8.8.8.8',
  ],
  [
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:0:7f00:1::',
    '2001:2::1',
    '2001:10::1',
  ],
  [
    '2001:20::1',
    '2001:1ff:ffff::',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '3fff::1',
    '3fff:fff::1',
    '4000::1',
  ],
  [
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fdff::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'feff::1',
    'ff02::1',
  ],
  [
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2606:4700::1%eth0',
    '8.8.8.8%lo',
    '',
    'localhost',
    '127.1',
    '0x7f000001',
  ],
  ['2130706433', '0177.0.0.1', '8.8.8.8 ', '8.8.8.8:80', '[2606:4700::1]', '1.2.3', '1.2.3.4.5', '::1::'],
].flat();

const open = [
  [
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '93.184.216.34',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
  ],
  ['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0'],
  ['192.0.1.0', '192.0.3.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
  ['2000::1', '2001:200::1', '2001:4860:4860::8888', '2003::1', '2606:4700:4700::1111', '2a00:1450::1', '3ffe::1'],
].flat();

describe('an address', () => {
  test.each(inner)('%s is not public', (address) => {
    expect(isPublic(address)).toBe(false);
  });

  test.each(open)('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test('that is public has no other reading that would be dialled', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4Extended(), fc.ipV6(), fc.string()), (address) => {
        if (isPublic(address)) expect(isIP(address)).not.toBe(0);
      }),
    );
  });

  test('that holds an IPv4 address is never public', () => {
    const hex = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
    fc.assert(
      fc.property(hex, hex, (high, low) => {
        const forms = [
          `::${high}:${low}`,
          `::ffff:${high}:${low}`,
          `64:ff9b::${high}:${low}`,
          `64:ff9b:1::${high}:${low}`,
        ];
        const tunnels = [`2002:${high}:${low}::1`, `2001:0:${high}:${low}::1`, `2001::${high}:${low}`];
        expect([...forms, ...tunnels].filter(isPublic)).toEqual([]);
      }),
    );
  });
});
