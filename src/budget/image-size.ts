export interface ImageSize {
  width: number;
  height: number;
}

/** A header is read in small pieces; this many of a JPEG's segments are looked at, a few bytes of each. */
const maxSegments = 1024;
/** Of base64 that is broken into lines, this much is joined. */
const maxBrokenPrefix = 64 * 1024;

type ReadBytes = (offset: number, length: number) => Uint8Array;

/** Random access to the bytes behind base64 without decoding more than is asked for. */
function openBase64(data: string): ReadBytes {
  let text = data;
  if (text.startsWith('data:')) {
    // The head of a `data:` URL is short; a comma far behind belongs to something else.
    const comma = text.slice(0, 256).indexOf(',');
    text = text.slice(comma + 1);
  }
  if (/\s/.test(text.slice(0, 256))) text = text.slice(0, maxBrokenPrefix).replace(/\s+/g, '');
  return (offset, length) => {
    const first = Math.floor(offset / 3);
    const encoded = text.slice(first * 4, Math.ceil((offset + length) / 3) * 4);
    const decoded = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
    const skipped = offset - first * 3;
    return Uint8Array.from(decoded.slice(skipped, skipped + length), (character) => character.charCodeAt(0));
  };
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

function readWebP(bytes: Uint8Array): ImageSize | undefined {
  const header = view(bytes);
  const format = ascii(bytes, 12, 16);
  if (format === 'VP8X') {
    // Two 24-bit numbers, each one less than the size.
    return { width: (header.getUint32(23, true) >>> 8) + 1, height: (header.getUint32(26, true) >>> 8) + 1 };
  }
  if (format === 'VP8L' && bytes[20] === 0x2f) {
    const bits = header.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (format === 'VP8 ' && header.getUint16(23) === 0x9d01 && bytes[25] === 0x2a) {
    return { width: header.getUint16(26, true) & 0x3fff, height: header.getUint16(28, true) & 0x3fff };
  }
  return undefined;
}

function readJpeg(read: ReadBytes): ImageSize | undefined {
  let offset = 2;
  for (let count = 0; count < maxSegments; count++) {
    const segment = read(offset, 9);
    const [start, marker = 0] = segment;
    if (start !== 0xff || segment.length < 9) return undefined;
    // Fill bytes and markers that stand alone.
    if (marker === 0xff) offset += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) offset += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: view(segment).getUint16(7), height: view(segment).getUint16(5) };
    } else if (marker === 0xd9 || marker === 0xda) return undefined;
    else offset += 2 + view(segment).getUint16(2);
  }
  return undefined;
}

function readHeader(read: ReadBytes): ImageSize | undefined {
  const bytes = read(0, 30);
  const header = view(bytes);
  if (ascii(bytes, 0, 8) === '\x89PNG\r\n\x1a\n' && ascii(bytes, 12, 16) === 'IHDR') {
    return { width: header.getUint32(16), height: header.getUint32(20) };
  }
  if (/^GIF8[79]a$/.test(ascii(bytes, 0, 6))) return { width: header.getUint16(6, true), height: header.getUint16(8, true) };
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return readWebP(bytes);
  if (header.getUint16(0) === 0xffd8) return readJpeg(read);
  return undefined;
}

/**
 * Width and height in pixels from the header of a PNG, JPEG, GIF or WebP image; undefined for anything else. Never throws, and
 * decodes only the few bytes it needs, however large the image.
 *
 * @param data - Base64 (also the URL alphabet, broken into lines, or a whole `data:` URL), or the bytes.
 *
 * @example
 * readImageSize('R0lGODlhAgADAAAAACH5BAAAAAAALAAAAAACAAMAAAICBAoAOw=='); // { width: 2, height: 3 }
 */
export function readImageSize(data: string | Uint8Array): ImageSize | undefined {
  try {
    const read: ReadBytes =
      typeof data === 'string' ? openBase64(data) : (offset, length) => data.subarray(offset, offset + length);
    const size = readHeader(read);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch {
    // Not base64, or shorter than a header.
    return undefined;
  }
}
